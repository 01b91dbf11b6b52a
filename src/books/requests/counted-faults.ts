import type { Tags } from "../../metering/tags.js";
import type { LoggedRequest } from "./logged-request.js";

/** Requests of a minute that did not succeed, and are alike in all that they are counted by. */
export interface CountedFaults {
  /** The minute's beginning, in epoch milliseconds. */
  readonly minute: number;
  readonly account: string | null;
  readonly plan: string | null;
  readonly model: string | null;
  readonly target: string | null;
  readonly keyId: string | null;
  readonly tags: Tags | null;
  readonly refusals: number;
  readonly failures: number;
}

const minuteMs = 60_000;

/** Whether the request counts as a refusal or as a failure; `undefined`: as neither. */
export function faultOf(line: LoggedRequest): "refusal" | "failure" | undefined {
  const { status, errorCode, endReason, attempts } = line;
  if (status === 499 || endReason === "client_gone") return undefined;
  if (attempts.length === 0) return status >= 400 ? "refusal" : undefined;
  const isWhole = status < 400 && errorCode === undefined && (endReason ?? "completed") === "completed";
  return isWhole ? undefined : "failure";
}

/** What the lines add to what is counted. */
export function countedFaults(lines: readonly LoggedRequest[]): CountedFaults[] {
  const counted = new Map<string, CountedFaults>();
  for (const line of lines) {
    const fault = faultOf(line);
    if (fault === undefined) continue;
    const minute = Math.floor(line.startedAt / minuteMs) * minuteMs;
    const { account = null, plan = null, model = null, target = null, keyId = null } = line;
    const tags = line.tags === undefined ? null : sorted(line.tags);
    const like = { minute, account, plan, model, target, keyId, tags };
    const place = JSON.stringify(like);
    const { refusals, failures } = counted.get(place) ?? { refusals: 0, failures: 0 };
    const count = line.count ?? 1;
    counted.set(place, {
      ...like,
      refusals: refusals + (fault === "refusal" ? count : 0),
      failures: failures + (fault === "failure" ? count : 0),
    });
  }
  return [...counted.values()];
}

function sorted(tags: Tags): Tags {
  return Object.fromEntries(Object.entries(tags).sort(([one], [other]) => (one < other ? -1 : 1)));
}
