import type { ObserveLedger } from "../../events/ledger-operation-completed.js";
import type { SettledCharge } from "../call-settlement.js";
import { andThen, type Soon } from "../soon.js";

/** Makes a charge that a ledger takes, for observers of the ledger. @param charge - never fails. */
export function observedCharge(charge: () => Soon<SettledCharge>, observe: ObserveLedger): Soon<SettledCharge> {
  const from = performance.now();
  const charged = charge();
  const isRemote = charged instanceof Promise;
  return andThen(charged, (settled) => {
    const outcome = settled.unsettled ?? "settled";
    observe({ operation: "settle", outcome, isRemote, durationMs: performance.now() - from });
    return settled;
  });
}
