import type { OperationName } from "../prices/operation-name.js";
import type { Dialect } from "../protocols/shared/dialect.js";
import { runtime } from "../runtime/this-runtime.js";
import type { MemberEdits } from "../wire/json-members.js";

/** Another purpose of the same secret gets another name, and so another key. */
const purpose = "infergate: ids of end users";

/**
 * What model servers know accounts by: the same id for all calls of an account, from which nobody reads the account
 * (HMAC-SHA256; the key by HKDF, RFC 5869).
 */
export class EndUserIds {
  readonly #key: Uint8Array;

  /** @param secret - gives the same ids in all processes. */
  constructor(secret: string) {
    this.#key = runtime.hkdfSha256(secret, purpose, 32);
  }

  /** 43 characters. */
  of(account: string): string {
    return runtime.hmacSha256(this.#key, account, "base64url");
  }

  /**
   * The members of an upstream's request that have the id: OpenAI's `safety_identifier`, Anthropic's `metadata.user_id`.
   * @returns `undefined` where its API has no place for it.
   */
  membersFor(account: string, operation: OperationName, dialect: Dialect | undefined): MemberEdits | undefined {
    if (operation === "messages") return new Map([["metadata", JSON.stringify({ user_id: this.of(account) })]]);
    if (operation !== "chat/completions" && operation !== "responses") return undefined;
    if (dialect?.dropped?.includes("safety_identifier")) return undefined;
    return new Map([["safety_identifier", JSON.stringify(this.of(account))]]);
  }
}
