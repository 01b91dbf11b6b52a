import type { Instant } from "../../keys/key-store.js";
import type { TotalsRequest } from "../../ledger/usage/usage-totals.js";
import type { LoggedRequest } from "./logged-request.js";

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
