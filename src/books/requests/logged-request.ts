import type { Funding } from "../../ledger/funding.js";
import type { Micro } from "../../metering/micro.js";
import type { Disconnect, EndReason, UsageSource } from "../../metering/outcome.js";
import type { Tags } from "../../metering/tags.js";
import type { UsageCounts } from "../../metering/usage-counts.js";

/** One call to a model server, as a log keeps it. */
export interface LoggedAttempt {
  /** The provider's name in the options. */
  provider: string;
  /** The upstream's name for the model. */
  model: string;
  /** The upstream's HTTP status; absent when there was none. */
  status?: number;
  outcome: EndReason;
  /** When the attempt began, in milliseconds from the request's arrival. */
  startedMs: number;
  durationMs: number;
  /** The upstream's own id of the request; absent when there was none. */
  upstreamRequestId?: string;
}

/** A line of a {@link RequestLog}: a request, and how it ended. It is JSON. Texts are cut off at 256 characters. */
export interface LoggedRequest {
  /** Unique, of up to 64 letters, digits, `_` and `-`. Lines that began in the same millisecond are in its order. */
  lineId: string;
  /** The `x-request-id` of the response. */
  requestId: string;
  /**
   * How many requests the line stands for: of those that are refused alike, many a minute, one line has the rest. All else is
   * that of the first of them. Absent: one.
   */
  count?: number;
  /** The call's id in the ledger and its journal; absent when no call was admitted. */
  callId?: string;
  /** When the request arrived, in epoch milliseconds. */
  startedAt: number;
  /** What it was for, as `chat/completions`; absent for paths that the gateway does not have. */
  endpoint?: string;
  /** How the caller is known: `key`, `session` or `in_process`; absent when nobody is. */
  source?: string;
  /** Absent when there is no such key, or none was needed. */
  keyId?: string;
  account?: string;
  plan?: string;
  /** The model's id; absent when the catalog does not have what the client asked for. */
  model?: string;
  /** What the client called the model by, when that is not its id: an alias, or a name that no model has. */
  requestedModel?: string;
  /** The last one that was called, such as `openai/gpt-4o-mini`; absent when none was. */
  target?: string;
  /** Whether the request asked for a stream. */
  stream: boolean;
  /** The HTTP status; 499 when the client left before there was one. */
  status: number;
  /** The `code` of the error that the client got, as a status or as the last event of a stream. */
  errorCode?: string;
  /** How the call ended; absent when no call went to an upstream. */
  endReason?: EndReason;
  /** What happened to the response after its client left early. */
  disconnect?: Disconnect;
  responseId?: string;
  finishReason?: string;
  tags?: Tags;
  /** The last eight calls to model servers, in their order. Never what an upstream said: it may hold parts of prompts. */
  attempts: readonly LoggedAttempt[];
  tokens: UsageCounts;
  usageSource?: UsageSource;
  /** The charge in micro-credits: 1 credit = 1,000,000. */
  chargedMicro: Micro;
  /** What paid for the call; absent when it used no ledger, or its model is free. */
  funding?: Funding;
  /** What of `chargedMicro` prepaid credits paid. Absent: nothing. */
  prepaidMicro?: Micro;
  /** What the call cost you, in micro-credits, where its targets have a `cost`. */
  costMicro?: Micro;
  /** Milliseconds from the arrival: to the end of the response, and to its first byte. */
  durations: { total: number; firstByte?: number };
  /** What was asked and answered, where the gateway was told to keep it. Lists leave it out. */
  texts?: LoggedTexts;
}

/** The beginnings of what was sent and received. */
export interface LoggedTexts {
  /** The client's request body. */
  request?: string;
  /** The text of the answer. */
  answer?: string;
}
