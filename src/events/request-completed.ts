import type { Micro } from "../metering/micro.js";
import type { Disconnect, EndReason, UsageSource } from "../metering/outcome.js";
import type { TokenCounts } from "../metering/token-counts.js";
import type { RequestEndpoint } from "./request-observer.js";

/** One call to a model server, and what became of it. */
export interface UpstreamAttempt {
  /** The provider's name in the options. */
  provider: string;
  /** The upstream's name for the model. */
  model: string;
  /** The upstream's HTTP status; absent when there was none. */
  status?: number;
  outcome: EndReason;
  /** Milliseconds, to the end of the answer or to its failure. */
  durationMs: number;
}

/** What `onRequestCompleted` gets when an answer has ended, however it ended. One event per request. */
export interface RequestCompleted {
  /** The `x-request-id` of the answer. */
  requestId: string;
  /** `undefined` for paths that are none of the gateway's. */
  endpoint: RequestEndpoint | undefined;
  /** Whose key it was, also when it is expired or revoked; absent when there is no such key. */
  keyId?: string;
  account?: string;
  plan?: string;
  /** The model as the client named it, when it is in the catalog. */
  model?: string;
  /** A stream was asked for. */
  stream: boolean;
  /** The HTTP status; 499 when the client left before there was one. */
  status: number;
  /** The `code` of the error that the client got, as a status or as the last event of a stream. */
  errorCode?: string;
  /** How the call ended; absent when no call went to an upstream. */
  endReason?: EndReason;
  /** What became of the answer when the client left before its end; absent when it did not. */
  disconnect?: Disconnect;
  /** The client had not left by itself: it took nothing of its answer for `maxStallMs`, and was given up. */
  stalled?: boolean;
  /** The calls to model servers, in their order; empty when there was none. */
  attempts: readonly UpstreamAttempt[];
  /** What was charged for; all zero when nothing was. */
  tokens: TokenCounts;
  /** What was charged, in micro-credits: 1 credit = 1,000,000. */
  chargedMicro: Micro;
  /** Where `tokens` come from; absent when nothing was charged. */
  usageSource?: UsageSource;
  /** Milliseconds. */
  durations: {
    /** From the request's arrival to the answer's end. */
    total: number;
    /** From the call to the upstream to its answer's end; absent when there was no call. */
    upstream?: number;
    /** From the request's arrival to the first byte of the answer; absent when there was none. */
    firstByte?: number;
  };
}
