import { dayMs } from "../../ledger/windows.js";
import { counted } from "./add-to-usage.js";

/** A table of sums over all accounts. */
export interface TotalsTable {
  readonly table: string;
  /** The column of that table that has the number of the day or quarter of an hour. */
  readonly unit: "day" | "quarter";
  readonly ms: number;
  /** What tells sums apart beside the time. */
  readonly names: readonly string[];
}

export const quartersPerDay = 96;

export const quarters: TotalsTable = {
  table: "infergate_usage_quarter",
  unit: "quarter",
  ms: dayMs / quartersPerDay,
  names: ["tags", "plan", "model", "target", "funding"],
};

/** What calls of one account may have alike. Their sums have its number in the place of all its names. */
export const series = {
  table: "infergate_usage_series",
  names: ["account", "plan", "model", "target", "key", "funding"],
} as const;

export const seriesDays: TotalsTable = {
  table: "infergate_usage_series_day",
  unit: "day",
  ms: dayMs,
  names: ["series"],
};

export const seriesQuarters: TotalsTable = {
  table: "infergate_usage_series_quarter",
  unit: "quarter",
  ms: quarters.ms,
  names: ["series"],
};

/** The columns that are added up. */
export const totalSums = ["requests", "charged", ...counted.map(([column]) => column), "cost", "costed"];
