import { createHash } from "node:crypto";

/** Names the keys of an account. What stands in braces decides the hash slot, so all of them are in one. */
export class AccountKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The keys that every script takes, and the one that belongs to the operation's own id. */
  of(subject: string, own?: `ended:${string}` | `grant:${string}`): string[] {
    const account = `${this.#prefix}:{${digest(subject)}}`;
    const keys = [account, `${account}:holds`, `${account}:leases`, `${account}:expired`, `${account}:journal`];
    if (own !== undefined) keys.push(`${account}:${own}`);
    return keys;
  }
}

/** Subjects are the host's and may be long, or mean something to a reader. In UTF-16 no two of them are the same bytes. */
function digest(subject: string): string {
  return createHash("sha256").update(subject, "utf16le").digest("base64url").slice(0, 22);
}
