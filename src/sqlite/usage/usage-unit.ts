import { dayMs } from "../../ledger/windows.js";

/** A length of time that usage is summed up by, and where its sums are. They are counted from 1970 on, in UTC. */
export interface UsageUnit {
  readonly table: string;
  /** The column of that table that has the number of the day or hour. */
  readonly column: "day" | "hour";
  readonly ms: number;
  /** The day of a sum, in SQL. */
  readonly day: string;
}

export const hoursPerDay = 24;

export const days: UsageUnit = { table: "infergate_usage", column: "day", ms: dayMs, day: "day" };

export const hours: UsageUnit = {
  table: "infergate_usage_hour",
  column: "hour",
  ms: dayMs / hoursPerDay,
  day: floored("hour", hoursPerDay),
};

/** SQL that divides a whole number and rounds down. SQLite itself rounds towards zero. */
export function floored(value: string, by: number): string {
  return `${value} / ${by} - (${value} < 0 AND ${value} % ${by} <> 0)`;
}
