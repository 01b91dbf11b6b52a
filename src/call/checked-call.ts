import type { Allowance } from "../access/allowance.js";
import type { Caller } from "../access/caller.js";
import type { CatalogModel } from "../access/catalog.js";
import type { HoldRoom } from "../access/hold-room.js";
import type { RateRule } from "../access/rate-rules.js";
import type { GatewayError } from "../errors/gateway-error.js";
import type { RequestObserver } from "../events/request-observer.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import type { Tags } from "../prices/tags.js";
import type { Demand, ModelRequest, Operation, RequestFacts } from "../protocols/shared/operation.js";
import type { TargetChoice } from "../routing/target-search.js";
import type { MemberEdits } from "../wire/json-members.js";

/** A request for a model, as it arrives. */
export interface ReceivedCall extends RequestFacts {
  /** What client, host and upstream know the request by. A host may give the same one twice. */
  readonly requestId: string;
  /** Unique: the ledger's id of the call. */
  readonly callId: string;
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly observer: RequestObserver;
  /** What the client gets for a response, or for an error that was not thrown. */
  respond(made: GatewayResponse | GatewayError): GatewayResponse;
  /** What the client gets for what was thrown. */
  refuse(thrown: unknown): GatewayResponse;
}

/** What every upstream of a call gets beside the translated request. */
export interface CallAdditions {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly members: MemberEdits | undefined;
}

/** Everything that is known of a call before its credits are held. Data only. */
export interface CheckedCall {
  /** What client, host and upstream know the request by. A host may give the same one twice. */
  readonly requestId: string;
  /** Unique: the ledger's id of the call, and what ids of responses are made of. */
  readonly callId: string;
  readonly caller: Caller;
  readonly allowance: Allowance;
  readonly model: CatalogModel;
  /** The rates that it is subject to. */
  readonly rules: readonly RateRule[];
  /** Of its account. */
  readonly room: HoldRoom;
  readonly request: ModelRequest;
  readonly demand: Demand;
  /** The request's body with the texts that the host's hook has put into it. Absent: as the client sent it. */
  readonly body?: Uint8Array;
  /** What the host files it under; `undefined`: nothing. */
  readonly tags: Tags | undefined;
  /** What the host's hook adds to the upstream's request; `undefined`: nothing. */
  readonly additions: CallAdditions | undefined;
  /** `undefined`: all targets of the model, with the operator's keys. */
  readonly choice?: TargetChoice;
  /** Epoch milliseconds. */
  readonly admittedAt: number;
}
