import { Buffer } from "node:buffer";
import { runtime } from "../../runtime/this-runtime.js";

/** Names the keys of an account. What stands in braces decides the hash slot, so all of them are in one. */
export class AccountKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The keys of the account's responses. */
  ofResponses(accountId: string): string[] {
    const responses = `${this.#prefix}:{${digest(accountId)}}:responses`;
    return [responses, `${responses}:order`, `${responses}:texts`, `${responses}:items`];
  }

  /** The keys of what is kept for equal requests of the account. */
  ofCache(accountId: string): string[] {
    const cache = `${this.#prefix}:{${digest(accountId)}}:cache`;
    return [cache, `${cache}:expiry`];
  }

  /** The keys that every script of the ledger takes. Those of ids begin with the first of them. */
  of(accountId: string): readonly string[] {
    return this.ofDigest(digest(accountId));
  }

  /** As {@link of}. */
  ofDigest(accountDigest: string): readonly string[] {
    const account = `${this.#prefix}:{${accountDigest}}`;
    const names = ["holds", "leases", "expired", "journal", "prepaid", "caps", "rates"];
    return [account, ...names.map((name) => `${account}:${name}`)];
  }
}

/**
 * Accounts and ids are the host's and may be long, or mean something to a reader. In UTF-16 no two of them are the same
 * bytes.
 */
export function digest(text: string): string {
  return runtime.sha256(Buffer.from(text, "utf16le"), "base64url").slice(0, 22);
}
