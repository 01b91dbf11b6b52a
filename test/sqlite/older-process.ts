import type { SqliteDatabase, SqliteValue } from "../../src/sqlite/sqlite-database.js";

type Row = Record<string, SqliteValue>;

const windows = ["session", "week", "month"] as const;

/** A process of the release that made fixtures/ledger-4.sql: with its statements, prepared before the tables changed. */
export class OlderProcess {
  readonly #account;
  readonly #put;
  readonly #entry;
  readonly #hold;
  readonly #end;
  readonly #due;
  readonly #expireDue;

  constructor(database: SqliteDatabase) {
    this.#account = database.prepare("SELECT * FROM infergate_account WHERE id = ?");
    this.#put = database.prepare(`REPLACE INTO infergate_account VALUES (?${", ?".repeat(17)})`);
    this.#entry = database.prepare("SELECT * FROM infergate_entry WHERE id = ? AND part = 0");
    this.#hold = database.prepare(`INSERT INTO infergate_entry (
      id, account, session_start, session_end, week_start, week_end, month_start, month_end, reserved, lease_expires_at,
      kind, at, sequence, amount, tags, expires_at, checkpoint, part
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`);
    this.#end = database.prepare(
      "UPDATE infergate_entry SET kind = ?, at = ?, sequence = ?, amount = ?, tags = ? WHERE id = ? AND part = 0",
    );
    this.#due = database.prepare("SELECT * FROM infergate_entry WHERE account = ? AND at IS NULL AND expires_at <= ?");
    this.#expireDue = database.prepare(
      "UPDATE infergate_entry SET kind = 'expired', at = ? WHERE account = ? AND at IS NULL AND expires_at <= ?",
    );
  }

  reserve(id: string, accountId: string, amount: number, expiresAt: number): void {
    const account = numbersOf(this.#account.get(accountId));
    const bounds = windows.flatMap((name) => [account[`${name}_start`], account[`${name}_end`]] as SqliteValue[]);
    this.#hold.run(id, accountId, ...bounds, amount, expiresAt, "hold", null, null, amount, null, expiresAt, 0);
    for (const name of windows) account[`${name}_held`] = Number(account[`${name}_held`]) + amount;
    account["next_expiry"] = Math.min(Number(account["next_expiry"] ?? expiresAt), expiresAt);
    this.#put.run(...Object.values(account));
  }

  settle(id: string, amount: number, now: number): void {
    const entry = numbersOf(this.#entry.get(id));
    const account = numbersOf(this.#account.get(entry["account"] ?? null));
    addCharge(account, entry, amount);
    account["sequence"] = Number(account["sequence"]) + 1;
    this.#end.run("charge", now, account["sequence"], amount, null, id);
    this.#put.run(...Object.values(account));
  }

  /** Ends the holds that have expired; none of them was renewed. */
  expire(accountId: string, now: number): void {
    const account = numbersOf(this.#account.get(accountId));
    for (const row of this.#due.all(accountId, now)) addCharge(account, numbersOf(row), 0);
    this.#expireDue.run(now, accountId, now);
    this.#put.run(...Object.values(account));
  }
}

/** In the windows whose newest instance is the entry's. A NULL is read as 0. */
function addCharge(account: Row, entry: Row, charge: number): void {
  for (const name of windows) {
    if (Number(account[`${name}_start`]) !== Number(entry[`${name}_start`])) continue;
    account[`${name}_held`] = Number(account[`${name}_held`]) - Number(entry["amount"]);
    account[`${name}_used`] = Number(account[`${name}_used`]) + charge;
  }
}

/** In the order of the columns. */
function numbersOf(row: unknown): Row {
  const values = Object.entries(row as Record<string, SqliteValue | bigint>).filter(([name]) => name !== "_metadata");
  return Object.fromEntries(values.map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]));
}
