import { LRUCache } from "lru-cache";
import type { AccountKeys } from "../account-keys.js";
import { LimitsText } from "./limits-text.js";

/** What operations on an account have in common. To make it costs more than all else about them. */
export interface KnownAccount {
  /** The keys that every script of the ledger takes. */
  readonly keys: readonly string[];
  readonly limits: LimitsText;
}

/** Of some 700 bytes each. */
const mostKnown = 10_000;

/** Remembers the accounts that were used last. */
export class KnownAccounts {
  readonly #keys: AccountKeys;
  readonly #known = new LRUCache<string, KnownAccount>({ max: mostKnown });

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  get(account: string): KnownAccount {
    const known = this.#known.get(account);
    if (known) return known;
    const made = { keys: this.#keys.of(account), limits: new LimitsText() };
    this.#known.set(account, made);
    return made;
  }
}
