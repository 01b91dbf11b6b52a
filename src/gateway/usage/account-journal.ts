import { closestName } from "../../check/known-options.js";
import type { Warn } from "../../events/warning.js";
import type { CreditLedger, HistoryPage, HistoryRequest } from "../../ledger/credit-ledger.js";
import { isAsked } from "../../ledger/journal.js";
import { nextTurn } from "../../ledger/promised.js";
import type {
  AccountStatement,
  StatementRequest,
  UsageRequest,
  UsageSum,
  UsageTotal,
} from "../../ledger/usage/usage-request.js";
import { UsageSums } from "../../ledger/usage/usage-sums.js";
import { reservedTags } from "../../prices/tags.js";
import { fromLedger } from "../admin/from-store.js";
import { ledgerLacks } from "../admin/method-checks.js";

/** How many entries are summed up between two turns of the event loop; some milliseconds of work. */
const summedAtOnce = 250;
const mostKnownTags = 1_000;

/** The journal of the ledger, and its sums. `by` is the name of the public method, for errors. */
export class AccountJournal {
  readonly #ledger: CreditLedger;
  /** Passes each message on once. */
  readonly #warnOnce: Warn;
  /** Tags that some charge has had. */
  readonly #knownTags = new Set<string>();

  constructor(ledger: CreditLedger, warnOnce: Warn) {
    this.#ledger = ledger;
    this.#warnOnce = warnOnce;
  }

  /** @throws UnsupportedError when the ledger keeps no journal. */
  async read(by: string, request: HistoryRequest): Promise<HistoryPage> {
    const { history } = this.#ledger;
    if (history === undefined) throw ledgerLacks(by, "keeps no journal");
    const page = await fromLedger(by, () => history.call(this.#ledger, request));
    // A ledger of the host's own may not know these.
    if (request.kinds === undefined && request.id === undefined) return page;
    return { ...page, entries: page.entries.filter((entry) => isAsked(entry, request)) };
  }

  /** @throws UnsupportedError when the ledger makes no statements. */
  async statement(by: string, request: StatementRequest): Promise<AccountStatement> {
    const { statement } = this.#ledger;
    if (statement === undefined) throw ledgerLacks(by, "makes no statements");
    return fromLedger(by, () => statement.call(this.#ledger, request));
  }

  /**
   * By the store where it keeps sums, else by its journal, page by page: only the sums stay in memory. Warns of a tag
   * that no charge has.
   */
  async sums(method: string, request: UsageRequest): Promise<UsageSum[]> {
    const sums = await this.#sums(method, request);
    if (sums.length > 0) for (const name of request.by) this.#checkTag(method, name, sums);
    return sums;
  }

  async #sums(method: string, request: UsageRequest): Promise<UsageSum[]> {
    const found = new UsageSums(request.by);
    const { usage } = this.#ledger;
    if (usage !== undefined) {
      for (const sum of await fromLedger(method, () => usage.call(this.#ledger, request))) found.addSum(sum);
      return found.list();
    }
    const { by, ...range } = request;
    for await (const { entries } of this.#pages(method, range)) for (const entry of entries) found.addEntry(entry);
    return found.list();
  }

  async *#pages(by: string, request: HistoryRequest): AsyncGenerator<HistoryPage, void, void> {
    let cursor: string | undefined;
    do {
      const page = await this.read(by, { ...request, limit: summedAtOnce, ...(cursor !== undefined && { cursor }) });
      yield page;
      cursor = page.cursor;
      // Some ledgers return a page synchronously. Without a turn of the event loop, a long journal would block the
      // process.
      await nextTurn();
    } while (cursor !== undefined);
  }

  /** A tag may be misspelled, or none of the account's charges may have it yet. Only the host knows. */
  #checkTag(method: string, name: string, sums: readonly UsageSum[]): void {
    if (reservedTags.includes(name) || this.#knownTags.has(name)) return;
    if (sums.some(({ by }) => by[name] !== null)) {
      if (this.#knownTags.size < mostKnownTags) this.#knownTags.add(name);
      return;
    }
    const meant = closestName(name, [...reservedTags, ...this.#knownTags]);
    const hint = meant === undefined ? "" : ` Did you mean \`${meant}\`?`;
    const message =
      `${method}: none of the charges that were summed up has the tag \`${name}\`, so every sum has \`null\` for it.` +
      hint;
    this.#warnOnce({ code: "unknown_tag", message });
  }
}

/** What an account used in one day, of one model, by one key. */
export interface UsageRow extends UsageTotal {
  /** In UTC, such as `2026-03-11`. */
  day: string;
  /** `null`: a hold of the host's, or a call whose process died. It was charged what its last renewal reported. */
  model: string | null;
  /** The key's id; `null` as in `model`. */
  keyId: string | null;
}

export function toUsageRow({ by, ...used }: UsageSum): UsageRow {
  const { day, model = null, key = null } = by;
  return { day: day ?? "", model, keyId: key, ...used };
}
