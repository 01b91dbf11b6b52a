import type { StoredAccount, WritableAccountStore } from "../../accounts/account-store.js";
import { hasVersion } from "../../accounts/account-version.js";
import { applyAccountChange, applyAccountPut } from "../../accounts/apply-account-change.js";
import { checkedAccountStore } from "../../accounts/checked-account-store.js";
import { toAccountPage } from "../../accounts/to-account-page.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { toNumberOrNull } from "../numbers.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "../sqlite-connection.js";

/**
 * Accounts in a SQLite database.
 *
 * @throws RangeError when `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteAccountStore(options: SqliteOptions): WritableAccountStore {
  requireKnownOptions("sqliteAccountStore", options, knownSqliteOptions);
  return accountStoreOf(new SqliteConnection(options));
}

export function accountStoreOf(connection: SqliteConnection): WritableAccountStore {
  const byId = connection.prepare("SELECT * FROM infergate_account_record WHERE id = ?");
  const after = connection.prepare("SELECT * FROM infergate_account_record WHERE id > ? ORDER BY id LIMIT ?");
  const replace = connection.prepare(`
    REPLACE INTO infergate_account_record (id, plan, anchor, status, message, metadata, rates, models, price_factor)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const remove = connection.prepare("DELETE FROM infergate_account_record WHERE id = ?");

  function get(id: string): StoredAccount | undefined {
    const row = byId.get(id);
    return row ? toAccount(row as Row) : undefined;
  }

  function save({ id, plan, anchor, status, message, metadata, rates, models, priceFactor }: StoredAccount): void {
    const [metadataJson, ratesJson, modelsJson] = [metadata, rates, models].map((of) =>
      of ? JSON.stringify(of) : null,
    );
    replace.run(
      ...[id, plan, anchor ?? null, status ?? null, message ?? null],
      ...[metadataJson ?? null, ratesJson ?? null, modelsJson ?? null, priceFactor ?? null],
    );
  }

  return checkedAccountStore("sqliteAccountStore", {
    find: async (id) => connection.read(() => get(id)),
    async put(account) {
      await connection.write(() => save(applyAccountPut(account, get(account.id))));
    },
    async replace(account, expected) {
      return connection.write(() => {
        if (!hasVersion(get(account.id), expected)) return false;
        save(account);
        return true;
      });
    },
    async list({ cursor = "", limit }) {
      const rows = await connection.read(() => after.all(cursor, limit + 1));
      return toAccountPage(
        rows.map((row) => toAccount(row as Row)),
        limit,
      );
    },
    async update(id, change) {
      return connection.write(() => {
        const account = get(id);
        if (account === undefined) return undefined;
        const changed = applyAccountChange(account, change);
        save(changed);
        return changed;
      });
    },
    async forget(id) {
      await connection.write(() => remove.run(id));
    },
  });
}

interface Row {
  id: string;
  plan: string;
  anchor: unknown;
  status: StoredAccount["status"];
  message: string | null;
  metadata: string | null;
  rates: string | null;
  models: string | null;
  price_factor: number | null;
}

function toAccount({ id, plan, anchor, status, message, metadata, rates, models, price_factor }: Row): StoredAccount {
  return {
    id,
    plan,
    anchor: toNumberOrNull(anchor),
    status,
    message,
    metadata: metadata === null ? null : JSON.parse(metadata),
    rates: rates === null ? null : JSON.parse(rates),
    models: models === null ? null : JSON.parse(models),
    priceFactor: price_factor,
  };
}
