import type { WithoutNulls } from "../../check/plain-data.js";
import type { Rates } from "../../prices/rates.js";
import type { Tags } from "../../prices/tags.js";

/** A moment: a `Date`, epoch milliseconds, or an ISO 8601 string. */
export type Instant = Date | number | string;

/**
 * What the host keeps with an API key: at most 16 texts of up to 512 characters, by names of 1 to 64, as in OpenAI's API.
 * All of it is well-formed Unicode without NUL. The gateway only hands it back.
 */
export type KeyMetadata = Readonly<Record<string, string>>;

/** That an API key was used. */
export interface KeyUse {
  /** The key's id. */
  id: string;
  /** When, in epoch milliseconds. */
  at: number;
}

/** What the store keeps of an API key. The key itself is not part of it. */
export interface ApiKey {
  /** Names the key in events and logs; not secret. Well-formed Unicode without control characters, at most 256 characters. */
  id: string;
  /**
   * The account whose credits the key uses. All keys of an account share them. Well-formed Unicode without control
   * characters, at most 128 characters.
   */
  account: string;
  /**
   * Id of the account's plan, looked up in the {@link PlanStore}. At most 256 such characters. A gateway without
   * `accounts` needs it; with `accounts` it counts for accounts that their store does not know.
   */
  plan?: string | null | undefined;
  /** From this moment on the key is refused. Default: never. */
  expiresAt?: Instant | null | undefined;
  /** From this moment on the key is refused. Default: not revoked. */
  revokedAt?: Instant | null | undefined;
  /** `false`: the key is refused with a 401 `api_key_disabled`, until it is `true` again. Default: `true`. */
  enabled?: boolean | null | undefined;
  /** Exact model ids or `*` patterns that narrow the plan; they never widen it. Default: all of the plan's. */
  models?: readonly string[] | null | undefined;
  /**
   * Where the account's weeks and months begin, usually the start of its subscription. It counts where `plan` does.
   * Default: Monday 00:00 UTC and the first of the month 00:00 UTC.
   */
  anchor?: Instant | null | undefined;
  /**
   * Caps on what the key may cost in credits, beside the windows of its account. Days, weeks and months begin at the
   * account's anchor. Default: none.
   */
  credits?: KeyCredits | null | undefined;
  /** Rate limits of the key, beside those of its plan and account. Default: none. */
  rates?: Rates | null | undefined;
  /**
   * What all of its calls are filed under, such as whose key it is: at most 16, whose values have at most 256 characters.
   * Default: nothing.
   */
  tags?: Tags | null | undefined;
  /** Where its caps and rates are counted: a rotated key goes on with what its predecessor has used. Default: its id. */
  lineage?: string | null | undefined;
}

/** Caps of a key, in credits. A cap that is absent or `null` is none. */
export interface KeyCredits {
  day?: number | null | undefined;
  week?: number | null | undefined;
  month?: number | null | undefined;
  /** For as long as the key lives. */
  total?: number | null | undefined;
}

/** Finds API keys by the SHA-256 of the token; see {@link hashKey}. No plaintext key ever reaches a store. */
export interface KeyStore {
  /**
   * @param hash - SHA-256 of the bearer token, 64 lower-case hexadecimal digits.
   * @returns the key, or `undefined` or `null` when there is none. The gateway judges expiry and revocation itself.
   * @throws anything: the caller gets a 503, never a 401.
   */
  find(hash: string): Promise<ApiKey | null | undefined> | ApiKey | null | undefined;
  /**
   * The ids of the keys that name no plan, where they are at hand: a gateway without `accounts` then refuses them when
   * it is created.
   */
  withoutPlan?(): Iterable<string>;
  /**
   * Keeps when keys were used, as `lastUsedAt`. An earlier moment never replaces a later one, and an id that is not there
   * is passed over. The gateway calls it away from requests: at most once a minute for each key and process, with up to
   * 250 keys at once, and again after a failure. It is no change that {@link WritableKeyStore.subscribe} gives notice of.
   * Absent: nothing is kept.
   */
  touch?(uses: readonly KeyUse[]): Promise<void> | void;
}

/**
 * A key as a {@link WritableKeyStore} is given it. Instants are epoch milliseconds. A member that is `null` is as one that
 * is absent; see {@link KeptKey}.
 */
export interface StoredKey extends ApiKey {
  /** SHA-256 of the key, see {@link hashKey}. */
  hash: string;
  /** How people recognise the key: its first and last characters, such as `sk-Ab3d…x9Qz`. Not secret. */
  hint: string;
  /** What its owner calls it. */
  name?: string | null | undefined;
  createdAt: number;
  expiresAt?: number | null | undefined;
  revokedAt?: number | null | undefined;
  anchor?: number | null | undefined;
  /** Default: none. */
  metadata?: KeyMetadata | null | undefined;
  /** About when the key was last used, see {@link KeyStore.touch}. Default: it is not known. */
  lastUsedAt?: number | null | undefined;
}

/** A {@link StoredKey} as it is read: what the key does not have is absent, and never `null`. */
export type KeptKey = WithoutNulls<StoredKey>;

/**
 * What can be changed of a {@link StoredKey}. `undefined` leaves a member alone, `null` takes it away. `credits`, `rates`,
 * `models`, `metadata` and `tags` are replaced as a whole. With another `account`, the key belongs to that one from now on.
 */
export type KeyChange = Partial<
  Pick<
    StoredKey,
    | "account"
    | "plan"
    | "name"
    | "expiresAt"
    | "revokedAt"
    | "enabled"
    | "models"
    | "anchor"
    | "metadata"
    | "credits"
    | "rates"
    | "tags"
  >
>;

/**
 * A {@link KeyStore} in which the gateway creates and changes keys.
 *
 * Some texts are the same character in UTF-8, such as all halves of surrogate pairs. To write such a text throws a
 * TypeError. To look for one finds nothing.
 */
export interface WritableKeyStore extends KeyStore {
  find(hash: string): Promise<KeptKey | undefined>;
  /**
   * @throws Error when the id or the hash is taken; TypeError when an id, `account`, `plan`, `models`, `hint`, `name`,
   * `metadata`, `credits`, `rates`, `tags` or `lineage` is not valid.
   */
  insert(key: StoredKey): Promise<void>;
  get(id: string): Promise<KeptKey | undefined>;
  /**
   * All keys of an account, revoked and expired ones too, the oldest first. Those of one millisecond come in the order of
   * their ids, by UTF-16 code units as JavaScript compares them, so that the order is the same in every store.
   */
  list(account: string): Promise<readonly KeptKey[]>;
  /**
   * Changes what is given, in one step that loses nothing of changes made at the same time. `revokedAt` moves to an
   * earlier moment only: where the key has an earlier one already, that stays, so that a revocation is not undone by a
   * rotation's time of grace. `null` takes it away all the same. `enabled` and `revokedAt` do not touch each other: to
   * enable a revoked key leaves it revoked.
   * @returns the key as it is now, or `undefined` when there is none of this id.
   */
  update(id: string, change: KeyChange): Promise<KeptKey | undefined>;
  /** Deletes all keys of an account. Returns their hashes. */
  forget(account: string): Promise<readonly string[]>;
  /**
   * Calls `onChange` with the hash of every key that any process inserts, updates or deletes in the shared store, as
   * soon as this process gets the notice. Absent where the store has no such notices. Does not keep the process alive.
   * @returns ends the subscription. A promise where it takes time until notices arrive.
   */
  subscribe?(onChange: (hash: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
}
