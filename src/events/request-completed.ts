import type { Funding } from "../ledger/window-states.js";
import type { Disconnect, EndReason, UsageSource } from "../prices/charge.js";
import type { Micro } from "../prices/micro.js";
import type { Tags } from "../prices/tags.js";
import type { UsageCounts } from "../prices/usage-counts.js";
import type { CallerSource, GuardOutcome, RequestEndpoint } from "./request-observer.js";

/** One call to a model server, and its result. */
export interface UpstreamAttempt {
  /** The provider's name in the options. */
  provider: string;
  /** The upstream's name for the model. */
  model: string;
  /** The upstream's HTTP status; absent when there was none. */
  status?: number;
  outcome: EndReason;
  /** When the attempt began, in milliseconds from the request's arrival. */
  startedMs: number;
  /** Milliseconds until the end of the response or the failure. */
  durationMs: number;
  /** The upstream's own id of the request, from its response's header; absent when there was none. */
  upstreamRequestId?: string;
  /**
   * What went wrong, for you alone: the upstream's words may hold parts of prompts. Keys, addresses and files are taken
   * out of them, and it has at most 1,000 characters. Absent when the attempt did not fail.
   */
  error?: string;
  /**
   * What the attempt cost you, in micro-credits, by the `cost` of its target. Of a failed attempt it is there only if the
   * target reported what it used. Absent when it is not known.
   */
  costMicro?: Micro;
}

/** What remains of each window, in micro-credits; `null`: unlimited. */
export interface RemainingCredits {
  session: Micro | null;
  week: Micro | null;
  month: Micro | null;
  /** Of the prepaid credits, never below 0; absent where the account has never had any. */
  prepaid?: Micro;
}

/** What `onRequestCompleted` gets when a response has ended, however it ended. One event per request. */
export interface RequestCompleted {
  /** The `x-request-id` of the response. */
  requestId: string;
  /**
   * The call's id in the ledger and its journal: the `requestId`, unless the host gave one of its own. Absent when no call
   * was admitted.
   */
  callId?: string;
  /** When the request arrived, in epoch milliseconds. */
  startedAt: number;
  /** `undefined` for paths that the gateway does not have. */
  endpoint: RequestEndpoint | undefined;
  /** How the caller is known; absent when there is no such key. */
  source?: CallerSource;
  /** The key's id, even if it is expired or revoked; absent when there is no such key, or none was needed. */
  keyId?: string;
  account?: string;
  plan?: string;
  /** The id of the model that the client asked for, when it is in the catalog: what its calls are counted under. */
  model?: string;
  /**
   * What the client called the model by, when that is not its id: an alias, or a name that no model has, cut off at 256
   * characters.
   */
  requestedModel?: string;
  /** Whether the request asked for a stream. */
  stream: boolean;
  /** What the host's `onRequest`, guards and `gateway.as()` filed it under; absent when nothing. */
  tags?: Tags;
  /** The HTTP status; 499 when the client left before there was one. */
  status: number;
  /** The `code` of the error that the client got, as a status or as the last event of a stream. */
  errorCode?: string;
  /** How the call ended; absent when no call went to an upstream. */
  endReason?: EndReason;
  /** The `id` of the response, as the client got it; absent when it got none, and for embeddings. */
  responseId?: string;
  /**
   * Why the first choice ended, in the words of chat completions, whatever the client's protocol: `stop`, `length`,
   * `tool_calls` or `content_filter`, or another word that a server of chat completions uses. Absent when it did not end.
   */
  finishReason?: string;
  /** What happened to the response after its client left early; absent when the client stayed. */
  disconnect?: Disconnect;
  /** Whether the client was disconnected because it took nothing of its response for `maxStallMs`. */
  stalled?: boolean;
  /** The calls to model servers, in their order; empty when there was none. */
  attempts: readonly UpstreamAttempt[];
  /** The results of the host's guards, in their order; absent when none ran. */
  guards?: readonly GuardOutcome[];
  /** The tokens that were charged for, or that a free model took; all zero when none count. */
  tokens: UsageCounts;
  /** The charge in micro-credits: 1 credit = 1,000,000. */
  chargedMicro: Micro;
  /**
   * What the call cost you, in micro-credits, by the `cost` of its targets: of all attempts of which it is known, also where
   * nothing is charged. Absent when it is of none.
   */
  costMicro?: Micro;
  /** The credits that were held when the call began, in micro-credits; absent when no call was admitted. */
  heldMicro?: Micro;
  /** What paid for the call: the plan, prepaid credits, or both. Absent when the call used no ledger, or its model is free. */
  funding?: Funding;
  /** What of `chargedMicro` prepaid credits paid; the plan paid the rest. Absent: nothing. */
  prepaidMicro?: Micro;
  /**
   * What remains of the account's windows and prepaid credits after the charge, in micro-credits; `null`: unlimited. As in the headers, the
   * holds of calls in progress are not counted. Absent as `funding` is.
   */
  remaining?: RemainingCredits;
  /**
   * Where `tokens` come from, also of a free model, for which `chargedMicro` is 0. Absent when none count, as of a call that
   * failed before its first output.
   */
  usageSource?: UsageSource;
  /** Milliseconds. */
  durations: {
    /** From the request's arrival to the end of the response. */
    total: number;
    /** From the call to the upstream to the end of its response, without guards; absent when there was no call. */
    upstream?: number;
    /** How long the guards took together; absent when none ran. */
    guards?: number;
    /** From the request's arrival to the first byte of the response; absent when there was none. */
    firstByte?: number;
  };
}

/** Whether a request is an error of the gateway or its model servers. A refusal is the client's fault, and a client that leaves is none. A stream that broke off has status 200. */
export function isFailure({ status, errorCode, endReason }: RequestCompleted): boolean {
  return status >= 500 || (status === 200 && errorCode !== undefined && endReason !== "client_gone");
}
