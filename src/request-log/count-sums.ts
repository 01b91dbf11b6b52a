import type { TotalsRequest } from "../ledger/usage/usage-request.js";
import { compareGroups, groupKey, mostTotals, placeIn, tooManyTotals } from "../ledger/usage/usage-sums.js";
import { journalTagPrefix, type Tags } from "../prices/tags.js";
import type { LoggedRequest, RequestCounts } from "./request-log.js";

/** Refusals and failures, as they are added up. */
export class CountSums {
  readonly #request: TotalsRequest;
  readonly #filters: readonly (readonly [name: string, values: readonly (string | null)[]])[];
  /** By the period and what is alike. */
  readonly #sums = new Map<string, { period: number; by: (string | null)[]; refusals: number; failures: number }>();

  constructor(request: TotalsRequest) {
    this.#request = request;
    this.#filters = Object.entries(request.where);
  }

  /** Adds what was counted, if it is asked for. @throws LedgerInputError when there are too many sums. */
  add(counted: CountedFaults): void {
    const period = placeIn(this.#request.periods, counted.minute);
    if (period === undefined) return;
    for (const [name, values] of this.#filters) if (!values.includes(dimensionOf(counted, name))) return;
    this.addSum({ ...counted, period, by: this.#request.by.map((name) => dimensionOf(counted, name)) });
  }

  /** Adds what was added up elsewhere. @throws LedgerInputError when there are too many sums. */
  addSum({ period, by, refusals, failures }: RequestCounts): void {
    const place = groupKey({ period, by });
    const known = this.#sums.get(place);
    if (known !== undefined) {
      known.refusals += refusals;
      known.failures += failures;
      return;
    }
    if (this.#sums.size >= mostTotals) throw tooManyTotals();
    this.#sums.set(place, { period, by: [...by], refusals, failures });
  }

  /** By their periods, and then by what is alike. */
  list(): RequestCounts[] {
    return [...this.#sums.values()].sort(compareGroups);
  }
}

function dimensionOf(counted: CountedFaults, name: string): string | null {
  switch (name) {
    case "account":
    case "plan":
    case "model":
    case "target":
      return counted[name];
    case "key":
      return counted.keyId;
    default:
      return name.startsWith(journalTagPrefix) ? tagOf(counted, name.slice(journalTagPrefix.length)) : null;
  }
}

function tagOf({ tags }: CountedFaults, name: string): string | null {
  return tags !== null && Object.hasOwn(tags, name) ? (tags[name] ?? null) : null;
}

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
