import type { LoggedRequest, RequestLog, RequestLogLimits, RequestQuery } from "../../request-log/request-log.js";
import { unique } from "../credit-ledger-fixture.js";
import type { AnyRunner } from "../test-runner.js";

/** Makes a log with these limits. Logs that are made one after the other may share their lines. */
export type MakeRequestLog = (limits?: RequestLogLimits) => Promise<RequestLog> | RequestLog;

/** An account of its own in a log. */
export class RequestLogFixture {
  readonly log: RequestLog;
  readonly account = unique("account");
  /** A whole minute of the last hour. */
  readonly begin = Math.floor(Date.now() / minuteMs) * minuteMs - 30 * minuteMs;
  #written = 0;

  constructor(log: RequestLog) {
    this.log = log;
  }

  /** A line of a call that succeeded, a millisecond after the one before. */
  make(more: Partial<LoggedRequest> = {}): LoggedRequest {
    const requestId = more.requestId ?? unique("req");
    return {
      lineId: unique("line"),
      requestId,
      startedAt: this.begin + this.#written++,
      endpoint: "chat/completions",
      account: this.account,
      stream: false,
      status: 200,
      attempts: [succeeded],
      tokens: { input: 3, cachedInput: 0, output: 2, reasoning: 0 },
      chargedMicro: 5,
      durations: { total: 12.5, firstByte: 4 },
      ...(more.attempts?.length !== 0 && { target: "openai/small" }),
      ...more,
    };
  }

  async write(...lines: readonly Partial<LoggedRequest>[]): Promise<LoggedRequest[]> {
    const made = lines.map((line) => this.make(line));
    await this.log.write(made);
    return made;
  }

  /** The request ids of all pages of the account. */
  async ids(query: RequestQuery = {}): Promise<string[]> {
    return (await readLog(this.log, { account: this.account, ...query })).map(({ requestId }) => requestId);
  }
}

const minuteMs = 60_000;
const succeeded = {
  provider: "openai",
  model: "small",
  status: 200,
  outcome: "completed",
  startedMs: 1,
  durationMs: 9,
} as const;

/** A request that the gateway refused. */
export const refused: Partial<LoggedRequest> = {
  status: 429,
  errorCode: "insufficient_quota",
  attempts: [],
  chargedMicro: 0,
};

/** A call whose upstream failed. */
export const failed: Partial<LoggedRequest> = {
  status: 502,
  errorCode: "upstream_error",
  endReason: "upstream_failed",
  attempts: [{ provider: "openai", model: "small", outcome: "upstream_failed", startedMs: 1, durationMs: 9 }],
};

export async function readLog(log: RequestLog, query: RequestQuery): Promise<LoggedRequest[]> {
  const found: LoggedRequest[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await log.list({ ...query, ...(cursor !== undefined && { cursor }) });
    found.push(...page.requests);
    cursor = page.cursor;
    if (cursor === undefined) return found;
  }
}

/** What each part of the contract of request logs is defined with. */
export interface RequestLogRulesInput extends AnyRunner {
  readonly make: MakeRequestLog;
  readonly fixture: () => Promise<RequestLogFixture>;
}

export function requestLogFixtures(make: MakeRequestLog): RequestLogRulesInput["fixture"] {
  return async () => new RequestLogFixture(await make());
}
