import { createHash } from "node:crypto";
import { membersOf } from "../wire/json-members.js";

/** Raised when equal keys would no longer mean equal requests. */
const version = 1;

/** What a response depends on beside the request's members. */
export interface KeyParts {
  readonly account: string;
  readonly operation: string;
  readonly model: string;
  /** The number of the model's definition: an update makes another one. */
  readonly definition: number;
  readonly stream: boolean;
  /** Of the client's, as far as its protocol has them. */
  readonly headers: readonly (string | undefined)[];
}

/**
 * The key of a request: equal for equal members, in whatever order.
 * @param ignored - members that change nothing of the response.
 */
export function cacheKey(parts: KeyParts, body: Uint8Array, ignored: ReadonlySet<string>): string {
  const { account, operation, model, definition, stream, headers } = parts;
  const hash = createHash("sha256");
  hash.update(
    JSON.stringify([version, account, operation, model, definition, stream, ...headers.map((each) => each ?? null)]),
  );
  const members = membersOf(body).filter(({ name }) => !ignored.has(name));
  members.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const { name, start, end } of members) {
    // With its length, no value can be taken for a value and another member.
    hash.update(`${JSON.stringify(name)}${end - start}:`);
    hash.update(body.subarray(start, end));
  }
  return hash.digest("base64url");
}
