import { GatewayError } from "../../errors/gateway-error.js";
import type { LedgerOperationCompleted, ObserveLedger } from "../../events/ledger-operation-completed.js";
import { holdCredits, type Reservation } from "../admission/hold-credits.js";
import type { CallServices } from "../call-services.js";
import type { CheckedCall } from "../checked-call.js";
import type { Soon } from "../soon.js";

type Held = Reservation | GatewayError | undefined;

/** As {@link holdCredits}, for observers of the ledger. */
export function observedHold(services: CallServices, call: CheckedCall, observe: ObserveLedger): Soon<Held> {
  const from = performance.now();
  const tell = (outcome: LedgerOperationCompleted["outcome"], isRemote: boolean): void =>
    observe({ operation: "reserve", outcome, isRemote, durationMs: performance.now() - from });
  try {
    const held = holdCredits(services, call);
    if (held instanceof Promise) return held.then(whenHeld, whenFailed);
    if (held !== undefined) tell(outcomeOf(held), false);
    return held;
  } catch (thrown) {
    tell("failed", false);
    throw thrown;
  }

  function whenHeld(held: Held): Held {
    tell(outcomeOf(held), true);
    return held;
  }

  function whenFailed(thrown: unknown): never {
    tell("failed", true);
    throw thrown;
  }
}

function outcomeOf(held: Held): "held" | "denied" {
  return held instanceof GatewayError ? "denied" : "held";
}
