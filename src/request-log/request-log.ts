import type { TotalsRequest } from "../ledger/usage/usage-request.js";
import type { Funding } from "../ledger/window-states.js";
import type { Disconnect, EndReason, UsageSource } from "../prices/charge.js";
import type { Micro } from "../prices/micro.js";
import type { Tags } from "../prices/tags.js";
import type { UsageCounts } from "../prices/usage-counts.js";
import type { Instant } from "../records/keys/key-store.js";

/** An HTTP status such as 429, or all of a class such as `4xx`. */
export type StatusFilter = number | `${1 | 2 | 3 | 4 | 5}xx`;

/** Which requests to list: those that are all of what is given. */
export interface RequestQuery {
  account?: string | undefined;
  /** The id of a key. */
  key?: string | undefined;
  /** Values of tags, such as `{ member: "42" }`: up to 16. Fast together with `account`. */
  tag?: Readonly<Record<string, string>> | undefined;
  /** A model's id, or what the client called it by. */
  model?: string | undefined;
  /** The target that was called last, such as `openai/gpt-4o-mini`. */
  target?: string | undefined;
  /** One of these. */
  status?: StatusFilter | readonly StatusFilter[] | undefined;
  /** The code of an error, such as `insufficient_quota`. */
  code?: string | undefined;
  /** Those that arrived then or later. */
  from?: Instant | undefined;
  /** Those that arrived earlier. */
  to?: Instant | undefined;
  /** From the page before, as it is. Default: the newest. */
  cursor?: string | undefined;
  /** The most requests on the page, 1 to 1,000. Default: 100. */
  limit?: number | undefined;
}

/** A page of requests. */
export interface RequestPage {
  /** The newest first, by their arrival. */
  requests: readonly LoggedRequest[];
  /**
   * For the next page; absent on the last one. Opaque. One page reads 5,000 lines at most: where few of them are what is
   * asked for, it is short, or empty, and has a cursor all the same.
   */
  cursor?: string;
}

/**
 * How many requests did not succeed, of what is alike. A client that left by itself counts as neither.
 */
export interface RequestCounts {
  /** The place of the period, from 0 on. */
  readonly period: number;
  /** What is alike, in the order of the names. */
  readonly by: readonly (string | null)[];
  /** Answered by the gateway with an error status, and no upstream was called. */
  readonly refusals: number;
  /** An upstream was called, and the client got an error, or no whole answer. */
  readonly failures: number;
}

/**
 * Keeps one line a request, for some days and within a bound. What is beyond it goes a little with each batch that is
 * written.
 */
export interface RequestLog {
  /**
   * Adds lines, up to 1,000, in one step. One whose `lineId` and `startedAt` are there already has no second effect.
   * @throws TypeError when a line is not valid.
   */
  write(lines: readonly LoggedRequest[]): Promise<void>;
  /**
   * One page after the other. A line that is there all the while is listed once, whatever comes meanwhile.
   * @throws TypeError when the query is not valid.
   */
  list(query?: RequestQuery): Promise<RequestPage>;
  /** The newest line of this request id, with its texts. */
  get(requestId: string): Promise<LoggedRequest | undefined>;
  /**
   * Counts refusals and failures by `account`, `plan`, `model`, `target`, `key` and `tag.…`, by the minute in which the
   * request arrived: a minute belongs to the period that its beginning is in. Where there is none, there is no element.
   * What is counted outlives the lines.
   * @throws LedgerInputError when there are more than 100,000 counts.
   */
  counts(request: TotalsRequest): Promise<readonly RequestCounts[]>;
  /** Deletes all lines and counts of the account. */
  forget(account: string): Promise<void>;
}

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

/** How much a request log keeps, and for how long. */
export interface RequestLogLimits {
  /** For how many days a line is kept, 1 to 3,650. Default: 30. */
  maxDays?: number | undefined;
  /** How many lines are kept at most; of more, those that were written first go. At least 1. */
  maxRows?: number | undefined;
  /**
   * For how many days refusals and failures are counted, 1 to 3,650. There are as many counts as `maxRows` at most: of all
   * that is alike in a minute, one for each batch. Default: 400.
   */
  countDays?: number | undefined;
}

/** All that there are. */
export const knownLogLimits: Readonly<Record<keyof RequestLogLimits, true>> = {
  maxDays: true,
  maxRows: true,
  countDays: true,
};

export interface CheckedLogLimits {
  readonly maxMs: number;
  readonly maxRows: number;
  readonly countMs: number;
}

const day = 86_400_000;
const mostDays = 3_650;

/** @throws RangeError when a limit is out of range. */
export function checkLogLimits(
  { maxDays = 30, maxRows, countDays = 400 }: RequestLogLimits = {},
  usualRows = 1_000_000,
): CheckedLogLimits {
  const rows = maxRows ?? usualRows;
  requireWithin("maxDays", maxDays, mostDays);
  requireWithin("countDays", countDays, mostDays);
  requireWithin("maxRows", rows, 1_000_000_000);
  return { maxMs: maxDays * day, maxRows: rows, countMs: countDays * day };
}

function requireWithin(name: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return;
  throw new RangeError(`requestLog.${name} must be a whole number from 1 to ${most}, not ${value}.`);
}
