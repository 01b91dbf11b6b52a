import type { Micro } from "../metering/micro.js";
import type { WindowState } from "./credit-ledger.js";

/** What is left of a window: settled charges only, as in the headers. Never below 0; `null`: unlimited. */
export function remaining({ limit, bonus, used }: WindowState): Micro | null {
  return limit === null ? null : Math.max(0, limit + bonus - used);
}
