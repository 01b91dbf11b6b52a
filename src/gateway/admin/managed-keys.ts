import * as z from "zod";
import { type AuditAuthor, authorShape } from "../../audit/checked-audit-trail.js";
import { checkInput } from "../../check/check-input.js";
import { ratesSchema } from "../../check/limit-schemas.js";
import { idText } from "../../check/text-schemas.js";
import type { GatewayWarning, Warn } from "../../events/warning.js";
import type { Clock } from "../../ledger/calendar.js";
import type { Rates } from "../../prices/rates.js";
import type { Tags } from "../../prices/tags.js";
import type { AccountStore } from "../../records/accounts/account-store.js";
import {
  keyAccount,
  keyCredits,
  keyEnabled,
  keyMetadata,
  keyModels,
  keyName,
  keyTags,
  wholeInstant,
} from "../../records/keys/check-key.js";
import type { Instant, KeyChange, KeyCredits, KeyMetadata, StoredKey } from "../../records/keys/key-store.js";
import type { WarnOfUnknownPlan } from "../warnings.js";
import type { AuditDraft, AuditedChange, Auditor } from "./audit.js";
import { type KeyBalance, type KeyBalanceServices, keyBalance } from "./balance.js";
import { UnknownAccountError } from "./errors.js";
import { fromStore } from "./from-store.js";
import { checkAccountInput } from "./method-checks.js";
import { type KeyServices, rotateKey, StoredKeys } from "./stored-keys.js";

/**
 * A key as the host sees it: everything but the key itself and its hash. Instants are epoch milliseconds. Each member is
 * always there; what the key does not have is `null`.
 *
 * A key works while it is `enabled`, not yet `expiresAt` and not yet `revokedAt`.
 */
export interface ManagedKey {
  id: string;
  account: string;
  /** `null`: that of the account's record. */
  plan: string | null;
  /** What its owner calls it. */
  name: string | null;
  /** How its owner recognises it: its first and last characters, such as `sk-ig-Ab3d…x9Qz`. Not secret. */
  hint: string;
  createdAt: number;
  /** From this moment on it is refused. */
  expiresAt: number | null;
  /** From this moment on it is refused. In the future for a key that was rotated with a time of grace. */
  revokedAt: number | null;
  /**
   * `false`: it is refused with a 401 `api_key_disabled`, until it is enabled again. Of a revoked or expired key it says
   * nothing about whether the key works: it does not.
   */
  enabled: boolean;
  /** Exact model ids or `*` patterns that narrow the plan; `null`: all of the plan's. */
  models: readonly string[] | null;
  /** Where the account's weeks and months begin. */
  anchor: number | null;
  /** What the host keeps with it. `null`: nothing. */
  metadata: KeyMetadata | null;
  /** What it may cost, in credits. `null`: no caps of its own. */
  credits: KeyCredits | null;
  /** Its rate limits. `null`: none of its own. */
  rates: Rates | null;
  /** What its calls are filed under. `null`: nothing. */
  tags: Tags | null;
  /** Where its caps and rates are counted: the id of the key that it was first rotated from. `null`: under its own. */
  lineage: string | null;
  /**
   * When it was last used, to about a minute, and up to two minutes late. `null`: not yet, or the key store does not keep
   * it.
   */
  lastUsedAt: number | null;
}

/** A new key, with its secret, which cannot be read again. */
export interface CreatedKey extends ManagedKey {
  /** The key itself, for its owner. It is stored nowhere. */
  secret: string;
}

/** What {@link ManagedKeys.create} takes. */
export interface NewKey {
  /** The account whose credits it uses: at most 128 characters, well-formed Unicode without control characters. */
  account: string;
  /**
   * Id of the account's plan. If the plan does not exist yet, the key is made with a warning `unknown_plan`. A gateway
   * without `accounts` needs it. Default, or with `null`: that of the account's record, which must be there then. The
   * first key of an account without a record is made with a warning `unknown_account`.
   */
  plan?: string | null | undefined;
  /** What its owner calls it, at most 200 characters. Default: nothing. */
  name?: string | null | undefined;
  /** From this moment on it is refused. In the future. Default: never. */
  expiresAt?: Instant | null | undefined;
  /** Exact model ids or `*` patterns that narrow the plan. Default: all of the plan's. */
  models?: readonly string[] | null | undefined;
  /** `false`: it is refused until it is enabled. Default: `true`. */
  enabled?: boolean | null | undefined;
  /** What the host keeps with it, see {@link KeyMetadata}. Default: nothing. */
  metadata?: KeyMetadata | null | undefined;
  /**
   * What it may cost in credits, beside the windows of its account. Days, weeks and months begin at the account's anchor.
   * Default: no caps.
   */
  credits?: KeyCredits | null | undefined;
  /** Rate limits of the key, beside those of its plan and account. Default: none. */
  rates?: Rates | null | undefined;
  /**
   * What all of its calls are filed under in the journal, in usage and in events, such as `{ member: "42" }`: at most 16, with
   * the names and values that `onRequest` may give. Default: nothing.
   */
  tags?: Tags | null | undefined;
  /**
   * Where the account's weeks and months begin. All keys of an account must have the same one. Default: that of the
   * account's newest key; without one, or with `null`, Monday 00:00 UTC and the first of the month 00:00 UTC.
   */
  anchor?: Instant | null | undefined;
}

/** What {@link ManagedKeys.update} changes. `undefined` leaves a member alone, `null` takes it away. */
export interface ManagedKeyChange {
  /**
   * Moves the key with its secret: from now on its calls use this account's credits; calls in progress go on with the one
   * before. Its caps and rates begin anew there. Without `anchor`, it takes the one of the account's newest key, as a new key
   * does.
   */
  account?: string | undefined;
  /** `null` only where the gateway has `accounts`. */
  plan?: string | null | undefined;
  name?: string | null | undefined;
  expiresAt?: Instant | null | undefined;
  models?: readonly string[] | null | undefined;
  /**
   * `false`: from now on it is refused; calls in progress go on. `null` is `true`. A revocation is final: to enable a
   * revoked key is no error, changes this member alone, and lets nobody in.
   */
  enabled?: boolean | null | undefined;
  /** All of it: what is not given is gone. */
  metadata?: KeyMetadata | null | undefined;
  /** All caps: one that is not given is gone. What the key has cost counts under the new ones. */
  credits?: KeyCredits | null | undefined;
  /** All rate limits: one that is not given is gone. */
  rates?: Rates | null | undefined;
  /** All of them: one that is not given is gone. */
  tags?: Tags | null | undefined;
  /** See {@link NewKey.anchor}: change it on all keys of the account. */
  anchor?: Instant | null | undefined;
}

/**
 * Creates and changes API keys, for the host's own dashboard. Changes are effective at once in this process, and in
 * others where the store sends notices (Redis, PostgreSQL), else within `cacheTtlMs`.
 *
 * Every method rejects with a TypeError when an argument is not valid or the key store cannot write, and with a
 * GatewayError 503 when the store fails.
 */
export interface ManagedKeys {
  /**
   * Makes a key: `keyPrefix`, 238 random bits and a checksum. Only its hash and its hint are stored.
   * @throws TypeError when the store does not keep `enabled`, `credits`, `rates` or `tags` that were given. The key is revoked.
   * UnknownAccountError when the gateway has `accounts`, and the account has no record there, unless a `plan` is given.
   * @param author - for the audit trail, as that of all methods.
   */
  create(key: NewKey, author?: AuditAuthor): Promise<CreatedKey>;
  get(id: string): Promise<ManagedKey | undefined>;
  /**
   * The keys of an account, revoked and expired ones too, the oldest first. Keys of one millisecond come in the order of
   * their ids, which is the order in which one process made them. It is the same in every store.
   * @param page - `limit`: the most keys, by default all; `after`: the id of the last key of the previous page.
   */
  list(
    account: string,
    page?: { limit?: number | undefined; after?: string | undefined },
  ): Promise<readonly ManagedKey[]>;
  /**
   * What the key's own `credits` allow, and what it has used of them, with the keys that it was rotated from.
   * @throws UnknownKeyError; LedgerUnavailableError when the ledger fails.
   */
  balance(id: string): Promise<KeyBalance>;
  /** From now on the key is refused. Once revoked, it stays so. @throws UnknownKeyError */
  revoke(id: string, author?: AuditAuthor): Promise<ManagedKey>;
  /**
   * Makes a key with all that this one has but its `lastUsedAt`, and revokes this one. A change that is made of this one
   * meanwhile is made of both. What this one has used counts
   * under the new one's caps and rates.
   * @param options - `graceMs`: how long the old key stays valid, in milliseconds, by default 0, at most 100 years;
   * `expiresAt`: of the new key, by default that of the old one.
   * @throws UnknownKeyError; KeyEndedError when the key is revoked or expired.
   */
  rotate(
    id: string,
    options?: AuditAuthor & { graceMs?: number | undefined; expiresAt?: Instant | null | undefined },
  ): Promise<CreatedKey>;
  /**
   * @throws UnknownKeyError; TypeError when the store does not keep `account`, `enabled`, `credits`, `rates` or `tags` that
   * were given. UnknownAccountError as {@link create}, for another `account`.
   */
  update(id: string, change: ManagedKeyChange, author?: AuditAuthor): Promise<ManagedKey>;
}

const keyChange = z.strictObject({
  account: keyAccount.optional(),
  plan: idText().nullish(),
  name: keyName,
  expiresAt: wholeInstant,
  enabled: keyEnabled,
  models: keyModels,
  anchor: wholeInstant,
  metadata: keyMetadata,
  credits: keyCredits,
  rates: ratesSchema,
  tags: keyTags,
});
const newKey = z.strictObject({ ...keyChange.shape, account: keyAccount });
/** Without an account store, only keys name plans. */
const withPlan = {
  newKey: newKey.extend({ plan: idText() }),
  keyChange: keyChange.extend({ plan: idText().optional() }),
};
const keyPage = z.strictObject({
  account: keyAccount,
  limit: z.number().int().positive().optional(),
  after: idText().optional(),
});
const keyId = z.strictObject({ id: idText() });
/** The longest `graceMs` whose end is still a valid date. */
const longestGraceMs = 100 * 365 * 86_400_000;
const authorInput = z.strictObject(authorShape);
const rotationInput = keyId.extend({
  ...authorShape,
  graceMs: z.number().int().nonnegative().max(longestGraceMs).default(0),
  expiresAt: wholeInstant,
});

/** What keys are managed with. */
interface ManagedKeyServices extends Omit<KeyServices, "ledger">, Omit<KeyBalanceServices, "clock"> {
  readonly accounts?: AccountStore | undefined;
  readonly audit: Auditor;
  readonly warn: Warn;
}

export function managedKeys(
  { accounts, audit, warn, ...services }: ManagedKeyServices,
  findCaller: { forget(hash: string): void },
  clock: Clock,
  warnOfUnknownPlan: WarnOfUnknownPlan,
): ManagedKeys {
  const stored = new StoredKeys(services, findCaller, clock);
  const schemas = accounts === undefined ? withPlan : { newKey, keyChange };
  const termsOf = ownerTerms(stored, accounts);

  return {
    async create(input, given = {}) {
      const by = "gateway.keys.create";
      const key = checkInput(by, schemas.newKey, input);
      const author = checkInput(by, authorInput, given);
      const { anchor, isUnknown } = await termsOf(by, key, { anchor: key.anchor, writes: "insert" });
      const created = await audit.keep(creation(key, author), async (entry) => {
        return noteKey(entry, await stored.insert(by, { ...key, anchor }));
      });
      if (isUnknown) warn(unknownAccount(by, key));
      if (typeof key.plan === "string") await warnOfUnknownPlan(by, key.plan);
      return toCreatedKey(created);
    },

    ...keyReaders(stored, { ...services, clock }),

    async revoke(id, given = {}) {
      const by = "gateway.keys.revoke";
      checkInput(by, keyId, { id });
      const author = checkInput(by, authorInput, given);
      const key = await stored.find(by, id);
      const change = { action: "keys.revoke", key: id, account: key.account, ...author } as const;
      return toManagedKey(await audit.keep(change, () => stored.revoke(by, key, clock.now())));
    },

    async rotate(id, options = {}) {
      const by = "gateway.keys.rotate";
      const rotation = checkInput(by, rotationInput, { ...options, id });
      return toCreatedKey(await rotateKey(stored, { ...rotation, now: clock.now() }, audit));
    },

    async update(id, input, options = {}) {
      const by = "gateway.keys.update";
      const checked = checkInput(by, schemas.keyChange, input);
      checkInput(by, keyId, { id });
      const author = checkInput(by, authorInput, options);
      const change: KeyChange = Object.fromEntries(Object.entries(checked).filter(([, value]) => value !== undefined));
      const key = await stored.find(by, id);
      const { account = key.account, plan = key.plan } = change;
      if (account !== key.account) {
        const { anchor, isUnknown } = await termsOf(
          by,
          { account, plan },
          { anchor: checked.anchor, writes: "update" },
        );
        change.anchor = anchor ?? null;
        if (isUnknown) warn(unknownAccount(by, { account, plan }));
      }
      const entry = {
        key: id,
        ...accountsOf(key.account, account),
        ...author,
        given: checked,
        before: pick(toManagedKey(key), change),
      };
      const changed = await audit.keep({ action: "keys.update", ...entry }, () => stored.change(by, key, change));
      if (typeof checked.plan === "string") await warnOfUnknownPlan(by, checked.plan);
      return toManagedKey(changed);
    },
  };
}

function keyReaders(stored: StoredKeys, services: KeyBalanceServices): Pick<ManagedKeys, "get" | "list" | "balance"> {
  return {
    async get(id) {
      const by = "gateway.keys.get";
      checkInput(by, keyId, { id });
      const key = await stored.store(by, "get").get(id);
      return key && toManagedKey(key);
    },

    async list(account, page = {}) {
      const by = "gateway.keys.list";
      const { limit, after } = checkAccountInput(by, keyPage, account, page);
      const listed = await stored.store(by, "list").list(account);
      const first = after === undefined ? 0 : placeBehind(listed, after);
      if (first === 0 && after !== undefined) throw stored.unknown(by, after, "the account has no key");
      return listed.slice(first, limit === undefined ? undefined : first + limit).map(toManagedKey);
    },

    async balance(id) {
      const by = "gateway.keys.balance";
      checkInput(by, keyId, { id });
      const key = await stored.store(by, "get").get(id);
      if (key === undefined) throw stored.unknown(by, id, "there is no key");
      return await keyBalance(by, key, services);
    },
  };
}

/** The accounts that the change of a key is found by. */
function accountsOf(before: string, after: string): Pick<AuditedChange, "account" | "movedTo"> {
  return before === after ? { account: before } : { account: before, movedTo: after };
}

function creation({ account, ...given }: NewKey, author: AuditAuthor): AuditedChange {
  return { action: "keys.create", account, ...author, given };
}

function noteKey<Made extends { readonly key: StoredKey }>(entry: AuditDraft, made: Made): Made {
  entry.key = made.key.id;
  return made;
}

/** 0 where there is none of this id. */
function placeBehind(keys: readonly StoredKey[], id: string): number {
  return keys.findIndex((key) => key.id === id) + 1;
}

type KeyOwner = Pick<NewKey, "account" | "plan">;

/** An anchor other than that of the account's keys would begin new windows, and so reset what is used. */
function ownerTerms(stored: StoredKeys, accounts: AccountStore | undefined) {
  return async (
    by: string,
    owner: KeyOwner,
    { anchor, writes }: { anchor: number | null | undefined; writes: "insert" | "update" },
  ) => {
    const hasRecord = accounts === undefined || (await isRecorded(by, accounts, owner));
    const needsOthers = anchor === undefined || !hasRecord;
    const others = needsOthers ? await stored.store(by, writes, "list").list(owner.account) : [];
    return {
      anchor: anchor === undefined ? others.at(-1)?.anchor : anchor,
      isUnknown: !hasRecord && others.length === 0,
    };
  };
}

/** @throws UnknownAccountError when nothing would give the key a plan: each of its requests would be refused. */
async function isRecorded(by: string, accounts: AccountStore, { account, plan }: KeyOwner): Promise<boolean> {
  // Not through the cache, which would remember that there is no account.
  const found = await fromStore(by, "account", () => accounts.find(account));
  if (found !== undefined && found !== null) return true;
  if (typeof plan === "string") return false;
  throw new UnknownAccountError(
    `${by}: there is no account ${JSON.stringify(account)} in the account store. Make it first with ` +
      "gateway.accounts.put. Or give the key a `plan`, which counts as long as the account has no record.",
  );
}

function unknownAccount(by: string, { account, plan }: KeyOwner): GatewayWarning {
  const message =
    `${by}: the account ${JSON.stringify(account)} is not in the account store, and had no key: its calls have the ` +
    `plan ${JSON.stringify(plan)} of this key, and credits of their own. Make it with gateway.accounts.put, unless that is meant.`;
  return { code: "unknown_account", message };
}

function pick(members: object, like: object): object {
  return Object.fromEntries(Object.entries(members).filter(([name]) => Object.hasOwn(like, name)));
}

function toCreatedKey({ key, secret }: { key: StoredKey; secret: string }): CreatedKey {
  return { ...toManagedKey(key), secret };
}

function toManagedKey(key: StoredKey): ManagedKey {
  const { id, account, plan, name, hint, createdAt, expiresAt, revokedAt, models, anchor, ...others } = key;
  return {
    id,
    account,
    plan: plan ?? null,
    name: name ?? null,
    hint,
    createdAt,
    expiresAt: expiresAt ?? null,
    revokedAt: revokedAt ?? null,
    enabled: others.enabled ?? true,
    models: models ?? null,
    anchor: anchor ?? null,
    metadata: others.metadata ?? null,
    credits: others.credits ?? null,
    rates: others.rates ?? null,
    tags: others.tags ?? null,
    lineage: others.lineage ?? null,
    lastUsedAt: others.lastUsedAt ?? null,
  };
}
