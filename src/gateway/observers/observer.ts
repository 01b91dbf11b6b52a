import type { RequestCompleted } from "../../events/request-completed.js";
import type { LedgerOperationCompleted, RequestEndpoint } from "../../events/request-observer.js";
import type { GatewayWarning } from "../../events/warning.js";
import type { LedgerEvent } from "../../ledger/guard/ledger-event.js";
import type { Micro } from "../../prices/micro.js";
import type { CallContent } from "../../protocols/shared/call-content.js";
import type { GatewayHealth } from "../gateway-health.js";

/** A request that has arrived. Nothing of it has been checked. */
export interface RequestStarted {
  /** The `x-request-id` of the response. */
  readonly requestId: string;
  /** `undefined` for paths that the gateway does not have. */
  readonly endpoint: RequestEndpoint | undefined;
  readonly method: string;
  /** A header of the request, by its name in lower case. It may hold secrets. */
  header(name: string): string | undefined;
}

/** A call to a model server that begins. */
export interface AttemptStarted {
  /** The provider's name in the options. */
  readonly provider: string;
  /** The upstream's name for the model. */
  readonly model: string;
}

/** A call that has passed all checks, and goes to a model server. */
export interface AdmittedCall {
  /** Its id in the ledger and its journal. */
  readonly callId: string;
  readonly account: string;
  /** Absent where no API key was sent. */
  readonly keyId?: string;
  readonly plan?: string;
  /** The model's id in the catalog. */
  readonly model: string;
  readonly stream: boolean;
  /** The credits that are held for it, in micro-credits. */
  readonly heldMicro: Micro;
}

/** What an {@link Observer} has for one request. Nothing waits for its methods. */
export interface ObservedRequest {
  /** Does the work of the request, so that what is begun in it, as calls to stores, belongs to the request. */
  run?<T>(work: () => T): T;
  /** Calls a model server, likewise. It comes after {@link onAttempt}. */
  runAttempt?<T>(call: () => T): T;
  /** Headers that tell the model server of the trace, in place of those of the client. Default: those of the client. */
  traceHeaders?(): Readonly<Record<string, string>> | undefined;
  /** The call is admitted. Requests that are refused never get here, nor do those that are no calls. */
  onAdmitted?(call: AdmittedCall): void;
  /** The ledger has held the request's credits, or has ended their hold. Comes twice at most. */
  onLedgerOperation?(operation: LedgerOperationCompleted): void;
  /** A call to a model server begins. The one before has failed. */
  onAttempt?(attempt: AttemptStarted): void;
  /** The status of the response is known: the first bytes go out, or all of them. */
  onResponse?(status: number): void;
  /**
   * So many characters at most of what the call was asked, and as many of what it was answered, come with
   * {@link onCompleted}: up to 65,536. Where several observers ask, each gets as much as that one that asks for most. Default: 0.
   */
  readonly contentCharacters?: number | undefined;
  /**
   * The response has ended, however it ended. Comes once.
   * @param content - `undefined` where none was asked for, or there is none: embeddings have none, nor do requests that were
   * refused before their body was read. It is the observers' own, and holds personal data.
   */
  onCompleted(event: RequestCompleted, content?: CallContent): void;
}

/** A gateway as its observers know it. */
export interface StartedGateway {
  /** As `health` of the gateway. */
  health(): GatewayHealth;
}

/**
 * Looks on while requests are served: see `infergate/otel`, `infergate/prometheus` and `infergate/logs`. What it throws harms no
 * request, and causes a warning `hook_failed`.
 */
export interface Observer {
  /** The gateway has been made. */
  onStart?(gateway: StartedGateway): void;
  /** A request has arrived. @returns what follows it; `undefined`: nobody does. */
  onRequest?(request: RequestStarted): ObservedRequest | undefined;
  /** As `onLedgerEvent` of the options. */
  onLedgerEvent?(event: LedgerEvent): void;
  /** As `onWarning` of the options, and beside it. */
  onWarning?(warning: GatewayWarning): void;
  /**
   * The gateway is closed, and all is settled. It is waited for, a second at most.
   * @param gateway - the one of {@link onStart}, for observers of several.
   */
  close?(gateway: StartedGateway): void | Promise<void>;
}
