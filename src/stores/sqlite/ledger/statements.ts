import type { LedgerEngine } from "../../../ledger/engine/ledger-engine.js";
import { StatementBooks, type StatementPlace } from "../../../ledger/rules/statement.js";
import type { AccountStatement, StatementRequest } from "../../../ledger/usage/usage-request.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber } from "../sqlite-database.js";
import type { UsageReader } from "../usage/usage-reader.js";
import type { AccountRow } from "./account-table.js";
import type { ForgottenAccounts } from "./forgotten-accounts.js";
import { isRare, type JournalTable } from "./journal-table.js";
import type { LedgerBatch } from "./ledger-batch.js";
import type { Retention } from "./retention.js";

const kinds = ["topup", "deduction", "expiry", "grant"] as const;

interface Row {
  readonly kind: (typeof kinds)[number];
  readonly place: StatementPlace;
  readonly amount: unknown;
}

interface Tables {
  readonly batch: LedgerBatch;
  readonly engine: LedgerEngine<AccountRow>;
  readonly journal: JournalTable;
  readonly retention: Retention;
  readonly usage: UsageReader;
  readonly forgotten: ForgottenAccounts;
  /** Of an account that this process is about to forget. */
  readonly forgetting: (account: string) => Promise<void> | undefined;
}

/** A statement in which what was charged is missing. */
interface Begun {
  readonly books: StatementBooks;
  readonly now: number;
  /** When the account was forgotten last. */
  readonly forgottenAt: number;
}

/** Makes statements: of what is rare in the journal, and of the sums of what calls were charged. */
export class Statements {
  readonly #connection: SqliteConnection;
  readonly #tables: Tables;
  readonly #rare: SqliteStatement;

  constructor(connection: SqliteConnection, tables: Tables) {
    this.#connection = connection;
    this.#tables = tables;
    // `sum` would fail beyond 64 bits.
    this.#rare = connection.prepare(`
      SELECT kind, iif(moment < ?, 'within', 'after') AS place, CAST(total(amount) AS INTEGER) AS amount
      FROM (
        SELECT kind, amount, iif(kind = 'expiry', tags ->> '$.endedAt', at) AS moment
        FROM infergate_entry INDEXED BY infergate_entry_rare
        WHERE account = ? AND at >= ? AND ${isRare} AND kind IN (${kinds.map((kind) => `'${kind}'`).join(", ")})
      )
      WHERE moment >= ?
      GROUP BY 1, 2`);
  }

  /** @param clock - now, inside of the transaction. */
  async of(request: StatementRequest, clock: () => number): Promise<AccountStatement> {
    const { batch, forgotten, forgetting } = this.#tables;
    for (;;) {
      await forgetting(request.account)?.catch(() => {});
      const begin = () => (forgetting(request.account) === undefined ? this.#begin(request, clock()) : undefined);
      const begun = await batch.run(begin);
      if (begun === undefined) continue;
      await this.#bookCharges(request.account, begun);
      // Else what was booked first is of an account that is not there any more.
      const forgottenAt = await this.#connection.read(() => forgotten.at(request.account));
      if (forgottenAt === begun.forgottenAt) return begun.books.statement();
    }
  }

  /** Adds what was charged, in as many turns as that takes. */
  async #bookCharges(account: string, { books, now }: Begun): Promise<void> {
    // What was charged before now is neither added to any more, nor is it changed.
    const ranges: readonly (readonly [StatementPlace, number, number])[] = [
      ["within", books.from, Math.min(books.to, now)],
      ["after", books.to, now],
    ];
    for (const [place, from, to] of ranges) {
      for (const { by, chargedMicro } of await this.#tables.usage.read({ account, from, to, by: ["funding"] })) {
        const prepaidMicro = by["funding"] === "prepaid" ? chargedMicro : 0;
        books.book(place, { kind: "charge", amountMicro: chargedMicro, prepaidMicro });
      }
    }
  }

  /** Books all that is of this very moment with the account as it is now. */
  #begin(request: StatementRequest, now: number): Begun {
    const { engine, journal, retention, forgotten } = this.#tables;
    const { account } = request;
    const prepaid = engine.find(account, now)?.limits?.prepaid;
    const books = new StatementBooks(request, { now, keptFrom: retention.keptFrom, prepaid });
    for (const { kind, place, amount } of this.#rare.all(books.to, account, books.from, books.from) as Row[]) {
      books.book(place, { kind, amountMicro: toNumber(amount) });
    }
    for (const entry of journal.after(account, { at: now - 1, sequence: Number.MAX_SAFE_INTEGER })) {
      if (!(kinds as readonly string[]).includes(entry.kind)) books.add(entry);
    }
    return { books, now, forgottenAt: forgotten.at(account) };
  }
}
