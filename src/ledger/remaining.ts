import type { Micro } from "../metering/micro.js";
import type { WindowState } from "./credit-ledger.js";

/** What remains of a window, counting settled charges only, as in the headers. Never below 0; `null`: unlimited. */
export function remaining({ limitMicro, bonusMicro, usedMicro }: WindowState): Micro | null {
  return limitMicro === null ? null : Math.max(0, limitMicro + bonusMicro - usedMicro);
}
