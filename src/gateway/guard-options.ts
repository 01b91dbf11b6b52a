import type { Warn } from "../events/warning.js";
import type { GuardOptions } from "../guard/guarded-credit-ledger.js";
import type { LedgerEvent } from "../guard/ledger-event.js";
import { callHook } from "../host-code/call-hook.js";
import type { Clock } from "../ledger/clock.js";
import { toMicro } from "../metering/to-micro.js";
import type { ResolvedOptions } from "./options.js";

/** The options of the ledger's guard. Its events go to the host's hook, and cause warnings. */
export function guardOptions(
  { ledgerOptions, onLedgerEvent, isolate }: Pick<ResolvedOptions, "ledgerOptions" | "onLedgerEvent" | "isolate">,
  clock: Clock,
  warn: Warn,
): Omit<GuardOptions, "mayRemember"> {
  const { onUnavailable, ...rest } = ledgerOptions;
  const insureMicro = { deny: undefined, allow: null };
  return {
    ...rest,
    isolate,
    insureMicro: typeof onUnavailable === "string" ? insureMicro[onUnavailable] : toMicro(onUnavailable.insure.credits),
    clock,
    emit: (event) => {
      warnOf(event, warn);
      if (onLedgerEvent === undefined) return;
      callHook(
        () => onLedgerEvent(event),
        (cause) => warn({ code: "hook_failed", message: "onLedgerEvent failed.", cause }),
      );
    },
  };
}

const lost = {
  overflow: "Too many settlements are kept for a ledger that does not take them: the oldest was given up",
  closed: "The gateway was closed before the ledger took a settlement",
  refused: "The ledger refuses a settlement that was kept for it",
  gave_up: "The ledger did not take a settlement for so long that its request had to end",
};

function warnOf(event: LedgerEvent, warn: Warn): void {
  if (event.type === "settle_unresolved") {
    const message = "A call was settled so late that an earlier charge cannot be ruled out. It was not charged again.";
    warn({ code: "charge_unresolved", message, requestId: event.requestId });
  } else if (event.type === "settle_kept") {
    const message = "The ledger has not accepted the settlement of a call. It is kept, and sent again.";
    warn({ code: "ledger_failed", message, requestId: event.requestId, cause: event.cause });
  } else if (event.type === "settle_lost" && event.settlement !== undefined) {
    const { reason, chargedMicro, account, cause, requestId } = event;
    const message = `${lost[reason]}. ${chargedMicro} micro-credits of the account "${account}" are not charged.`;
    warn({ code: "charge_lost", message, requestId, ...(cause === undefined ? undefined : { cause }) });
  }
}
