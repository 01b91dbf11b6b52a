import { Buffer } from "node:buffer";
import { runtime } from "../runtime/this-runtime.js";
import { isRecord } from "../wire/is-record.js";
import { findJsonFault } from "../wire/json-syntax.js";
import { decodeOwnPayload, joinOwnPayload, splitOwnPayload } from "../wire/own-payload.js";

/** So long is what clients keep, at the most: in characters, and in levels. */
const longestPayload = 1_000_000;
const mostLevels = 32;

/** Another purpose of the same secret gets another name, and so another key. */
const purpose = "infergate: thoughts that clients keep";

type Secrets = readonly (string | Uint8Array)[];

/**
 * Signs what the gateway gives clients to keep and send back, each for one account (HMAC-SHA256; the key by HKDF, RFC 5869).
 * What a client has changed, made up, or got from another account is not read.
 */
export class PayloadSeal {
  readonly #secrets: () => Secrets;
  #known: readonly Uint8Array[] | undefined;

  /**
   * @param secrets - at least one. The first signs, and all of them verify. A function is called when the first is needed: a
   * Worker has no random numbers before its first request.
   */
  constructor(secrets: Secrets | (() => Secrets)) {
    this.#secrets = typeof secrets === "function" ? secrets : () => secrets;
  }

  get #keys(): readonly Uint8Array[] {
    this.#known ??= this.#secrets().map((secret) => runtime.hkdfSha256(secret, purpose, 32));
    return this.#known;
  }

  write(account: string, json: Uint8Array | string): string {
    return joinOwnPayload(json, (encoded) => this.#sign(this.#keys[0] as Uint8Array, account, encoded));
  }

  /** The payload's bytes, which are an object's JSON; `undefined` where the gateway did not make it for the account. */
  open(account: string, text: unknown): Buffer | undefined {
    if (typeof text !== "string" || text.length > longestPayload) return undefined;
    const parts = splitOwnPayload(text);
    if (parts === undefined) return undefined;
    // As text: many texts decode to the same bytes.
    const signature = Buffer.from(parts.signature);
    const isOwn = this.#keys.some((key) =>
      runtime.isSameBytes(Buffer.from(this.#sign(key, account, parts.encoded)), signature),
    );
    if (!isOwn) return undefined;
    const json = decodeOwnPayload(text);
    return findJsonFault(json, mostLevels) === undefined && json[0] === 0x7b ? json : undefined;
  }

  #sign(key: Uint8Array, account: string, encoded: string): string {
    return runtime.hmacSha256(key, `${account.length}:${account}:${encoded}`, "base64url");
  }
}

/** What clients of one account keep of the thoughts of one target. */
export class ThoughtSeal {
  /** An opaque mark of the target: another model could not use the thoughts. Clients can read it. */
  readonly origin: string;
  readonly #seal: PayloadSeal;
  readonly #account: string;

  constructor(seal: PayloadSeal, account: string, origin: string) {
    this.#seal = seal;
    this.#account = account;
    this.origin = origin;
  }

  write(thoughts: object): string {
    return this.#seal.write(this.#account, JSON.stringify({ origin: this.origin, ...thoughts }));
  }

  /** `undefined` for what is another target's, another account's, another server's, or changed. */
  read(text: unknown): Record<string, unknown> | undefined {
    const json = this.#seal.open(this.#account, text);
    const value: unknown = json === undefined ? undefined : JSON.parse(json.toString());
    return isRecord(value) && value["origin"] === this.origin ? value : undefined;
  }
}
