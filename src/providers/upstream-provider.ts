import type { OperationName } from "../metering/operation-name.js";
import type { Dialect } from "../openai/dialect.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";

/** What a model server can be asked for, as the path behind the base URL. */
export type UpstreamOperation = OperationName;

/** What a provider speaks that says nothing else. */
export const defaultOperations: readonly UpstreamOperation[] = ["chat/completions", "embeddings"];

/** As much of an `AbortSignal` as it takes to be told. Every `AbortSignal` is one. */
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
  /** The JSON request, UTF-8. */
  body: Uint8Array;
  /** Whether `body` asks for server-sent events. */
  stream: boolean;
  /** Aborted when the client has left or the gateway shuts down: cancel the call at once. */
  readonly signal: AbortSignal;
  /** The same, for providers to whom microseconds count: `signal` is made when it is first read. */
  readonly notice?: AbortNotice;
  /** The gateway's request id, for logs. */
  requestId: string;
  /** Further headers of the request, names in lower case: the client's own that belong to its protocol. Absent: none. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** What the model server answered, in OpenAI's wire format. */
export interface UpstreamAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /**
   * The body's bytes as they arrive. Nothing is read ahead without bound while nobody asks.
   * Breaking off the iteration ends the call; its `return` may be called while a `next` is pending.
   */
  body: AsyncIterable<Uint8Array>;
}

/**
 * Reaches a model server. Whatever is not OpenAI-shaped is translated in here, never in the core.
 */
export interface UpstreamProvider {
  /** What it speaks: a model's requests of other kinds do not go to it. Default: chat completions and embeddings. */
  readonly operations?: readonly UpstreamOperation[] | undefined;
  /** How requests for it and its answers depart from OpenAI's: the gateway writes and reads them so. Default: not at all. */
  readonly dialect?: Dialect | undefined;
  /**
   * Resolves as soon as status and headers are known, whatever the status is.
   *
   * From this call on, a client that leaves is charged for the prompt, unless the call fails as `unreachable`.
   * @throws {@link UpstreamError} when there is no answer. Anything else is a failure, too, of a request that may have arrived.
   */
  call(call: UpstreamCall): Promise<UpstreamAnswer>;
  /**
   * What clients must not get to read when one of the provider's answers is an error. Asked then. What looks like a key, a
   * host, a file or a stack trace is kept from them anyway; a {@link GatewayError} that you throw is told as it is.
   * Default: nothing.
   */
  secrets?(): UpstreamSecrets;
  /** Closes idle connections. The provider stays usable. */
  close?(): Promise<void>;
}

/**
 * `unreachable`: refused, no such host, TLS: the request has reached nobody. `timeout`: no connection, no answer or no more
 * of it in time. `interrupted`: the connection broke. `aborted`: the call's own signal.
 */
export type UpstreamFailure = "unreachable" | "timeout" | "interrupted" | "aborted";

/** The upstream gave no answer, or broke off within one. */
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
  return value instanceof UpstreamError || (value instanceof Error && value.name === "UpstreamError");
}
