import type { Warn } from "../events/warning.js";
import { GuardedCreditLedger } from "../guard/guarded-credit-ledger.js";
import type { Clock } from "../ledger/clock.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import { ChangeWatch } from "./change-watch.js";
import { guardOptions } from "./guard-options.js";
import type { ResolvedOptions } from "./options.js";
import { thresholdLedger } from "./thresholds/threshold-ledger.js";

export interface WatchedLedger {
  readonly ledger: CreditLedger;
  /** Closes the guard and ends the subscription. The ledger itself stays open: the host owns it. */
  close(): Promise<void>;
}

/**
 * Wraps a remote ledger in its guard. The guard forgets the cached denials of accounts that another process changes. A
 * ledger in this process's memory needs no guard.
 */
export function watchedLedger(
  options: Pick<ResolvedOptions, "ledger" | "ledgerOptions" | "onLedgerEvent" | "onThreshold" | "thresholds">,
  clock: Clock,
  warn: Warn,
): WatchedLedger {
  const { onThreshold, thresholds } = options;
  const store =
    onThreshold === undefined ? options.ledger : thresholdLedger(options.ledger, { onThreshold, thresholds, warn });
  if (store.inProcess === true) return { ledger: store, close: nothingToEnd };
  const watch = new ChangeWatch({
    subscribe: store.subscribe && ((onChange) => store.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (account) => ledger.changed(account),
    what: "ledger",
    warn,
  });
  const { mayRemember } = watch;
  const ledger = new GuardedCreditLedger(store, { ...guardOptions(options, clock, warn), mayRemember });
  return {
    ledger,
    close: async () => {
      await ledger.close();
      await watch.close();
    },
  };
}

const nothingToEnd = async (): Promise<void> => {};
