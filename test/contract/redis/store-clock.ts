import type { Clock } from "../../../src/ledger/calendar.js";
import { makeLedgerScripts } from "../../../src/stores/redis/ledger/ledger-scripts.js";
import type { RunScript } from "../../../src/stores/redis/script.js";

/** The ledger's scripts, but with the time that comes with each call. */
export const shiftedScripts = makeLedgerScripts("local now = tonumber(ARGV[#ARGV])");

/** Sends the clock's time along, for {@link shiftedScripts}. */
export function runAt(run: RunScript, clock: Clock): RunScript {
  return (script, keys, args) => run(script, keys, [...args, clock.now()]);
}
