import { dayMs } from "../../ledger/windows.js";
import { tokens } from "./add-to-usage.js";

/** A table of sums over all accounts. */
export interface TotalsTable {
  readonly table: string;
  /** The column of that table that has the number of the day or quarter of an hour. */
  readonly unit: "day" | "quarter";
  readonly ms: number;
  /** What tells sums apart beside the time. */
  readonly names: readonly string[];
}

export const quarters: TotalsTable = {
  table: "infergate_usage_quarter",
  unit: "quarter",
  ms: dayMs / 96,
  names: ["tags", "plan", "model", "target", "funding"],
};

export const accountDays: TotalsTable = {
  table: "infergate_usage_account_day",
  unit: "day",
  ms: dayMs,
  names: ["account", "plan", "model", "target", "key", "funding"],
};

/** The columns that are added up. */
export const totalSums = ["requests", "charged", ...tokens.map(([column]) => column), "cost", "costed"];
