import { requireKnownOptions } from "../check/known-options.js";
import { withoutNulls } from "../check/without-nulls.js";
import { applyKeyChange } from "../keys/apply-key-change.js";
import { checkedKeyStore } from "../keys/checked-key-store.js";
import type { KeptKey, StoredKey, WritableKeyStore } from "../keys/key-store.js";
import { toNumber, toNumberOrNull } from "./numbers.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";

/**
 * API keys in a SQLite database, by their hashes.
 *
 * @throws RangeError when `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteKeyStore(options: SqliteOptions): WritableKeyStore {
  requireKnownOptions("sqliteKeyStore", options, knownSqliteOptions);
  return keyStoreOf(new SqliteConnection(options));
}

export function keyStoreOf(connection: SqliteConnection): WritableKeyStore {
  const select = "SELECT * FROM infergate_key WHERE";
  const byHash = connection.prepare(`${select} hash = ?`);
  const byId = connection.prepare(`${select} id = ?`);
  const ofAccount = connection.prepare(`${select} account = ?`);
  const insert = connection.prepare(`
    INSERT INTO infergate_key (id, hash, hint, created_at, last_used_at, lineage, account, plan, name, expires_at,
      revoked_at, enabled, models, anchor, metadata, credits, rates, tags)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`);
  const update = connection.prepare(`
    UPDATE infergate_key SET account = ?, plan = ?, name = ?, expires_at = ?, revoked_at = ?, enabled = ?, models = ?, anchor = ?,
      metadata = ?, credits = ?, rates = ?, tags = ?
    WHERE id = ?`);
  const touch = connection.prepare(`
    UPDATE infergate_key SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)`);
  const forget = connection.prepare("DELETE FROM infergate_key WHERE account = ? RETURNING hash");

  function get(id: string): KeptKey | undefined {
    const row = byId.get(id);
    return row ? toKey(row as Row) : undefined;
  }

  return checkedKeyStore("sqliteKeyStore", {
    async find(hash) {
      const row = await connection.read(() => byHash.get(hash));
      return row ? toKey(row as Row) : undefined;
    },
    async insert(key) {
      const { id, hash, hint, createdAt, lastUsedAt, lineage } = key;
      const fixed = [id, hash, hint, createdAt, lastUsedAt ?? null, lineage ?? null];
      const inserted = await connection.write(() => insert.all(...fixed, ...changeable(key)));
      if (inserted.length === 0) throw new Error("A key of this id or hash is there already.");
    },
    get: async (id) => connection.read(() => get(id)),
    async list(account) {
      const rows = await connection.read(() => ofAccount.all(account));
      return rows.map((row) => toKey(row as Row));
    },
    async update(id, change) {
      const changeKey = () => {
        const key = get(id);
        if (key === undefined) return undefined;
        const changed = applyKeyChange(key, change);
        update.run(...changeable(changed), id);
        return changed;
      };
      return connection.write(changeKey);
    },
    async touch(uses) {
      await connection.write(() => {
        for (const { id, at } of uses) touch.run(id, at);
      });
    },
    async forget(account) {
      const rows = await connection.write(() => forget.all(account));
      return rows.map((row) => (row as Row).hash);
    },
  });
}

function changeable({ account, plan, name, expiresAt, revokedAt, ...key }: StoredKey) {
  return [
    account,
    plan ?? null,
    name ?? null,
    expiresAt ?? null,
    revokedAt ?? null,
    typeof key.enabled === "boolean" ? Number(key.enabled) : null,
    toJson(key.models),
    key.anchor ?? null,
    toJson(key.metadata),
    toJson(key.credits),
    toJson(key.rates),
    toJson(key.tags),
  ] as const;
}

function toJson(members: object | null | undefined): string | null {
  return members ? JSON.stringify(members) : null;
}

function fromJson(json: string | null) {
  return json === null ? null : JSON.parse(json);
}

interface Row {
  id: string;
  hash: string;
  hint: string;
  account: string;
  plan: string | null;
  name: string | null;
  created_at: unknown;
  expires_at: unknown;
  revoked_at: unknown;
  models: string | null;
  anchor: unknown;
  enabled: unknown;
  metadata: string | null;
  last_used_at: unknown;
  credits: string | null;
  rates: string | null;
  tags: string | null;
  lineage: string | null;
}

function toKey(row: Row): KeptKey {
  const { id, hash, hint, account, plan, name, lineage } = row;
  const enabled = toNumberOrNull(row.enabled);
  return withoutNulls({
    id,
    hash,
    hint,
    account,
    plan,
    name,
    createdAt: toNumber(row.created_at),
    expiresAt: toNumberOrNull(row.expires_at),
    revokedAt: toNumberOrNull(row.revoked_at),
    models: fromJson(row.models),
    anchor: toNumberOrNull(row.anchor),
    enabled: enabled === null ? null : enabled !== 0,
    metadata: fromJson(row.metadata),
    lastUsedAt: toNumberOrNull(row.last_used_at),
    credits: fromJson(row.credits),
    rates: fromJson(row.rates),
    tags: fromJson(row.tags),
    lineage,
  });
}
