import { LRUCache } from "lru-cache";
import type { AccountKeys } from "../account-keys.js";
import { packed } from "../commands/script-keys.js";
import { LeasedWindows } from "./leased-windows.js";
import { LimitsText } from "./limits-text.js";

/** The keys that every script of the ledger takes. */
export interface LedgerKeys {
  /** Those of ids begin with the first of them. */
  readonly names: readonly string[];
  readonly packed: string;
}

/** What operations on an account have in common. To make it costs more than all else about them. */
export interface RecentAccount {
  readonly keys: LedgerKeys;
  readonly limits: LimitsText;
  readonly windows: LeasedWindows;
}

/** Of some 1,500 bytes each. */
const mostRecent = 10_000;

/** Remembers the accounts that were used last. */
export class RecentAccounts {
  readonly #keys: AccountKeys;
  readonly #recent = new LRUCache<string, RecentAccount>({ max: mostRecent });

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  get(account: string): RecentAccount {
    const known = this.#recent.get(account);
    if (known) return known;
    const names = this.#keys.of(account);
    const keys = { names, packed: names.map(packed).join("") };
    const made = { keys, limits: new LimitsText(), windows: new LeasedWindows() };
    this.#recent.set(account, made);
    return made;
  }
}
