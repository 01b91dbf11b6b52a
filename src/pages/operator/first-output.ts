import type { LoggedRequest } from "../../books/requests/logged-request.js";
import type { Gateway } from "../../gateway/gateway.js";
import { unlessUnsupported } from "../server/is-unsupported.js";
import { toSeconds } from "../server/units.js";
import type { FirstOutput } from "./operator-page-api.js";

/** So many of the latest requests tell how long things take: one page of the log, however many there are. */
const looked = 1_000;

/** The latest requests that streamed an answer, with the time to its first byte. Empty where requests are not logged. */
export async function latestStreams(gateway: Gateway, from: number): Promise<readonly LoggedRequest[]> {
  const page = await unlessUnsupported(() => gateway.requests.list({ from, limit: looked }));
  return (page?.requests ?? []).filter(
    ({ stream, status, durations }) => stream && status < 400 && durations.firstByte !== undefined,
  );
}

/** An answer that does not stream has its first output at its end, which says nothing of the model server. */
export function firstOutputOf(streams: readonly LoggedRequest[]): FirstOutput | null {
  if (streams.length === 0) return null;
  const times = streams.map(({ durations }) => durations.firstByte ?? 0).sort((one, other) => one - other);
  return {
    p50_ms: percentile(times, 0.5),
    p95_ms: percentile(times, 0.95),
    requests: times.length,
    from: toSeconds(Math.min(...streams.map(({ startedAt }) => startedAt))),
  };
}

/** The nearest rank. */
function percentile(sorted: readonly number[], part: number): number {
  return Math.round(sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0);
}
