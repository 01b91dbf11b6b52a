import { requireKnownOptions } from "../../check/known-options.js";
import { dayMs } from "../../ledger/calendar.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { plainLedger } from "../../ledger/plain-ledger.js";
import { ledgerScripts } from "./ledger/ledger-scripts.js";
import { batchSizes, type RedisBatchOptions } from "./ledger/operation-queue.js";
import { ScriptedCreditLedger } from "./ledger/scripted-credit-ledger.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "./redis-connection.js";

/** Options of {@link redisCreditLedger}. */
export interface RedisCreditLedgerOptions extends RedisOptions {
  /** How much of each account's journal is kept. `false`: none, and no `history`. */
  journal?: RedisJournalOptions | false | undefined;
  /**
   * Operations of all accounts that come in one turn of the event loop go together in one script; on a cluster, those of
   * each account. `false`: each in a script of its own, as with `isolate`.
   */
  batch?: RedisBatchOptions | false | undefined;
}

/** All that there are. */
export const knownRedisLedgerOptions: Readonly<Record<keyof RedisCreditLedgerOptions, true>> = {
  ...knownRedisOptions,
  journal: true,
  batch: true,
};

export interface RedisJournalOptions {
  /** The newest entries, and up to a hundred or so more. Default: 10,000. */
  entries?: number | undefined;
  /** For how many days entries are kept, and up to a day or so longer while the account is in use. Default: 40. */
  days?: number | undefined;
}

/**
 * Keeps credits in Redis, shared by any number of processes and exact across all of them. Each operation is one round
 * trip, in which others may go with it, and the server's clock is the only clock. Accounts may be spread over a cluster.
 *
 * The ledger recognises the repetition of a settlement or reservation for two minutes after its end, and of a grant for
 * 31 days. An expired hold can be settled for at least an hour. Ids are unique within their account only: the same id
 * for another account is another reservation or grant. Those of top-ups and deductions are unique within the ledger, which
 * takes these a second round trip. Any failure of Redis is a {@link LedgerUnavailableError} with its
 * `cause`.
 *
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisCreditLedger(options: RedisCreditLedgerOptions): CreditLedger {
  requireKnownOptions("redisCreditLedger", options, knownRedisLedgerOptions);
  return creditLedgerOn(connectionOf(options), options);
}

/** The same on a connection that is shared with other stores. */
export function creditLedgerOn(
  { run, returnsBytes, isCluster, isolate, prefix, onReconnected, changes }: RedisConnection,
  { journal = {}, batch }: Pick<RedisCreditLedgerOptions, "journal" | "batch">,
  scripts = ledgerScripts,
): CreditLedger {
  const { entries: journalEntries = 10_000, days = 40 } = journal === false ? { entries: 0 } : journal;
  if (journal !== false) {
    requireKnownOptions("journal", journal, { entries: true, days: true });
    requireCount("journal.entries", journalEntries);
    requireCount("journal.days", days);
  }
  const ledger = new ScriptedCreditLedger({
    ...{ run, returnsBytes, isCluster, isolate, scripts, prefix, journalEntries },
    batch: batchSizes(batch),
    journalMs: days * dayMs,
    channel: changes.channel,
  });
  return {
    ...plainLedger(ledger),
    ...(journalEntries > 0 && {
      history: (request) => ledger.history(request),
      statement: (request) => ledger.statement(request),
    }),
    onReconnected,
    ...(changes.canSubscribe && {
      subscribe: (onChange: (account: string) => void) => changes.subscribe("account", onChange),
    }),
  };
}

function requireCount(name: string, count: number): void {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`${name} must be a whole number of at least 1, not ${count}.`);
  }
}
