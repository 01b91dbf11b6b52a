import type { OperationName } from "../prices/operation-name.js";
import type { Tags } from "../prices/tags.js";
import type { Dialect } from "../protocols/shared/dialect.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";

/** What a model server can be called for, as the path behind the base URL. */
export type UpstreamOperation = OperationName;

/** The operations of a provider that names none. */
export const defaultOperations: readonly UpstreamOperation[] = ["chat/completions", "embeddings"];

/** The part of an `AbortSignal` that a listener needs. Every `AbortSignal` is one. */
export interface AbortNotice {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: (() => void) | { handleEvent(): void }): void;
  removeEventListener(type: "abort", listener: (() => void) | { handleEvent(): void }): void;
}

/** One call to a model server. */
export interface UpstreamCall {
  endpoint: UpstreamOperation;
  /** The upstream's name for the model; `body` carries it already. */
  model: string;
  /** The request: JSON in UTF-8, or a form with files, as {@link contentType} says. */
  body: Uint8Array;
  /** Of `body`: `application/json`, or `multipart/form-data` with its boundary. The gateway sets it always. */
  contentType?: string | undefined;
  /** What is to come: one document, server-sent events, or bytes such as sound. The gateway sets it always. */
  expects?: "document" | "events" | "bytes" | undefined;
  /** Whether `body` requests server-sent events. */
  stream: boolean;
  /**
   * The output cap for a server that would choose one of its own where the request names none: what is held is no more than
   * this. Absent where a response has no output tokens.
   */
  outputCap?: number | undefined;
  /** Aborted when the client has left or the gateway shuts down: cancel the call at once. */
  readonly signal: AbortSignal;
  /** The same, for providers to whom microseconds count: `signal` is made when it is first read. */
  readonly notice?: AbortNotice;
  /** The gateway's request id, for logs. */
  requestId: string;
  /** Whose call it is. The gateway sets it always. */
  account?: string | undefined;
  /** The id of the key that was sent; absent where none was. */
  keyId?: string | undefined;
  /** What the host filed the call under, by `onRequest` or `gateway.as()`; absent where nothing. */
  tags?: Tags | undefined;
  /**
   * Further headers of the request, names in lower case: the client's own that belong to its protocol, and those of the
   * host's `onRequest`. Absent: none.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The account's own key, which {@link UpstreamProvider.ownKey} gave for this call: the provider sends it in place of the
   * operator's. It is a secret. Absent: the operator's key is to be used.
   */
  ownKey?: string | undefined;
}

/** The response of the model server, in OpenAI's wire format. */
export interface UpstreamResponse {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /**
   * The body's bytes as they arrive. The provider reads no more ahead than a bounded part while the gateway does not
   * pull. To break the iteration off ends the call; its `return` may be called while a `next` is pending.
   */
  body: AsyncIterable<Uint8Array>;
}

/** The call for which an account's own key is looked up. */
export interface OwnKeyCall {
  readonly account: string;
  /** The id of the key that was sent; absent where none was. */
  readonly keyId?: string;
  readonly plan: string;
  /** What the host filed the call under, by `onRequest` or `gateway.as()`; absent where nothing. */
  readonly tags?: Tags;
  /** The model's id in the catalog. */
  readonly model: string;
}

type OwnKey = string | null | undefined;

/**
 * Finds the key with the model server that an account has of its own ("bring your own key"). Called once for
 * each call and provider, after `onRequest`. A string is the account's own key. `undefined`: the operator's key is used. `null`: the
 * target is not for this call; with no other target it is a 400 `own_key_required`.
 *
 * A text that fits into no header, or has more than 4,096 characters, is a 403 `own_key_refused`. A function that throws, gives
 * anything else, or takes longer than `hookTimeoutMs` of the gateway, is a 503 and a warning.
 */
export type OwnKeySource = (call: OwnKeyCall) => OwnKey | Promise<OwnKey>;

/**
 * Reaches a model server. Whatever is not OpenAI-shaped is translated in here, never in the core.
 */
export interface UpstreamProvider {
  /** What it speaks: a model's requests of other kinds do not go to it. Default: chat completions and embeddings. */
  readonly operations?: readonly UpstreamOperation[] | undefined;
  /** How its requests and responses differ from OpenAI's: the gateway writes and reads them so. Default: not at all. */
  readonly dialect?: Dialect | undefined;
  /**
   * Resolves as soon as status and headers are known, whatever the status is.
   *
   * From this call on, a client that leaves is charged for the prompt, unless the call fails as `unreachable`.
   * @throws {@link UpstreamError} when there is no response. Any other error counts as a failure of a request that may
   * have arrived.
   */
  call(call: UpstreamCall): Promise<UpstreamResponse>;
  /** Finds the own keys of accounts: see {@link OwnKeySource}. Default: all calls use the operator's key. */
  readonly ownKey?: OwnKeySource | undefined;
  /**
   * What clients must not see of the provider's error responses. Called for each of them. The gateway always hides what
   * looks like a key, a host, a file or a stack trace; it passes the text of a {@link GatewayError} of yours on as it
   * is. Default: nothing.
   */
  secrets?(): UpstreamSecrets;
  /** Deletes what the provider keeps of an account. `gateway.accounts.forget` calls it. Default: it keeps nothing. */
  forget?(account: string): Promise<void>;
  /** Closes idle connections. The provider stays usable. */
  close?(): Promise<void>;
}

/**
 * Why there is no response.
 * - `unreachable`: refused, no such host, TLS: the request has reached no server.
 * - `timeout`: no connection, no response or no more of it in time.
 * - `interrupted`: the connection broke.
 * - `aborted`: the call's own signal.
 */
export type UpstreamFailure = "unreachable" | "timeout" | "interrupted" | "aborted";

/** The upstream sent no response, or broke it off. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

/** Also true for one from another copy of this package, such as its CommonJS build beside the ESM one. */
export function isUpstreamError(value: unknown): value is UpstreamError {
  try {
    return value instanceof UpstreamError || (value instanceof Error && value.name === "UpstreamError");
  } catch {
    // A host's provider may throw what cannot be looked at.
    return false;
  }
}
