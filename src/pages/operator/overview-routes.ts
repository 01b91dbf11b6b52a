import * as z from "zod";
import { isTagName } from "../../check/text-schemas.js";
import { invalidValue } from "../../errors/gateway-error.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { GatewayHealth } from "../../gateway/gateway-health.js";
import type { UsageRecord } from "../../gateway/usage/gateway-usage.js";
import type { LedgerHealth } from "../../ledger/guard/ledger-event.js";
import { addCounts, noTokens } from "../../prices/usage-counts.js";
import type { LoggedRequest } from "../../request-log/request-log.js";
import { type PageRoute, pageRoute, toCredits, toSeconds, unlessUnsupported } from "../server/page-route.js";
import { requireFewDays, requireFewSums, secondsText } from "../server/usage-bounds.js";
import type {
  FirstOutput,
  OperatorHealth,
  OperatorLedger,
  OperatorOverview,
  OperatorTarget,
  OperatorTargets,
  OperatorUsage,
} from "./operator-page-api.js";
import { type Operator, type OperatorServices, orNull } from "./operator-services.js";

const timeZone = z.string().max(64).default("UTC");
const value = z.string().min(1).max(1000).optional();
const filters = { account: value, plan: value, model: value, target: value, key: value };

const overviewQuery = z.strictObject({ from: secondsText, time_zone: timeZone });
const usageQuery = z.strictObject({
  ...filters,
  from: secondsText,
  to: secondsText.optional(),
  every: z.enum(["hour", "day"]).optional(),
  time_zone: timeZone,
  /** Names, with commas between. */
  by: z.string().max(400).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});
const rangeQuery = z.strictObject({ from: secondsText, to: secondsText.optional() });

const dayMs = 86_400_000;
const shownModels = 10;
/** A day of which a clock was put back has 25 hours. */
const longestDaySeconds = 26 * 3600;

/** A day so far, in a few sums. */
export function overviewRoute({ gateway, clock }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof overviewQuery>({
    method: "GET",
    path: "overview",
    query: overviewQuery,
    async answer({ query: { from: seconds, time_zone } }) {
      const now = clock.now();
      const from = seconds * 1000;
      if (now - from > longestDaySeconds * 1000) throw invalidValue("from", "`from` must be the beginning of today.");
      const [hours, before, models, streams] = await Promise.all([
        gateway.usage({ from, to: now + 1, every: "hour", timeZone: time_zone, refusals: true }),
        gateway.usage({ from: from - dayMs, to: now + 1 - dayMs, refusals: true }),
        gateway.usage({ from, to: now + 1, by: ["model"] }),
        latestStreams(gateway, from),
      ]);
      const called = models.filter(({ requests }) => requests > 0);
      const dearest = called.toSorted((one, other) => other.chargedMicro - one.chargedMicro);
      const overview: OperatorOverview = {
        from: seconds,
        now: toSeconds(now),
        today: toOperatorUsage(sumOfUsage(hours)),
        before: toOperatorUsage(sumOfUsage(before)),
        hours: hours.map(toOperatorUsage),
        models: dearest.slice(0, shownModels).map(toOperatorUsage),
        first_output: firstOutputOf(streams),
      };
      return { json: overview };
    },
  });
}

/** Sums by what is asked for: those that were charged the most first, or one period after the other. */
export function operatorUsageRoute({ gateway, clock }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof usageQuery>({
    method: "GET",
    path: "usage",
    query: usageQuery,
    async answer({ query: { from, to = toSeconds(clock.now()) + 1, every, time_zone, by, limit, ...where } }) {
      requireFewDays(from, to, every);
      const records = await gateway.usage({
        from: from * 1000,
        to: to * 1000,
        by: namesOf(by),
        refusals: true,
        where: Object.fromEntries(
          Object.entries(where).flatMap(([name, given]) => (given === undefined ? [] : [[name, given]])),
        ),
        ...(every !== undefined && { every, timeZone: time_zone }),
      });
      if (every !== undefined) requireFewSums(records.length);
      const listed =
        every === undefined
          ? records.toSorted((one, other) => other.chargedMicro - one.chargedMicro).slice(0, limit)
          : records;
      return { json: { data: listed.map(toOperatorUsage), next: null, more: records.length - listed.length } };
    },
  });
}

/** What each target has answered, to compare with the invoice of who runs it, and how fast it is. */
export function targetsRoute({ gateway, clock }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof rangeQuery>({
    method: "GET",
    path: "targets",
    query: rangeQuery,
    async answer({ query: { from, to = toSeconds(clock.now()) + 1 } }) {
      requireFewDays(from, to, "day");
      const [used, streams] = await Promise.all([
        gateway.usage({ from: from * 1000, to: to * 1000, by: ["target"], refusals: true }),
        latestStreams(gateway, clock.now() - dayMs),
      ]);
      const uses = new Map(
        used.flatMap((record) => (record.by["target"] == null ? [] : [[record.by["target"], record]])),
      );
      const known = Object.values(gateway.health().models).flatMap(({ targets }) =>
        targets.map(({ provider, model }) => `${provider}/${model}`),
      );
      const data: OperatorTargets["data"] = [...new Set([...known, ...uses.keys()])].map((target) => {
        const use = uses.get(target);
        return {
          target,
          usage: use === undefined ? null : toOperatorUsage(use),
          first_output: firstOutputOf(streams.filter((request) => request.target === target)),
        };
      });
      return { json: { from, to, data } };
    },
  });
}

const known = ["account", "plan", "model", "target", "key", "funding"];

function namesOf(by: string | undefined): string[] {
  const names = by === undefined || by === "" ? [] : by.split(",");
  const other = names.find(
    (name) => !known.includes(name) && !(name.startsWith("tag.") && isTagName(name.slice("tag.".length))),
  );
  if (other === undefined && names.length <= 4) return names;
  throw invalidValue("by", `\`by\` must be up to four of ${known.join(", ")} and tags, such as tag.member.`);
}

/** With what calls have cost, and where they went. */
function toOperatorUsage({ by, period, requests, chargedMicro, tokens, ...rest }: UsageRecord): OperatorUsage {
  return {
    by,
    period: period === undefined ? null : { name: period.name, from: toSeconds(period.from), to: toSeconds(period.to) },
    requests,
    credits: toCredits(chargedMicro),
    cost: toCredits(rest.costedMicro === undefined ? null : (rest.costMicro ?? 0)),
    costed: toCredits(orNull(rest.costedMicro)),
    margin: toCredits(orNull(rest.marginMicro)),
    tokens: {
      input: tokens.input,
      cached: tokens.cachedInput,
      cache_write: tokens.cacheWrite ?? 0,
      output: tokens.output,
      reasoning: tokens.reasoning,
    },
    units: {
      images: tokens.images ?? 0,
      audio_ms: tokens.audioMs ?? 0,
      characters: tokens.characters ?? 0,
      searches: tokens.searches ?? 0,
    },
    refusals: orNull(rest.refusals),
    failures: orNull(rest.failures),
  };
}

/** All of them together. */
function sumOfUsage(records: readonly UsageRecord[]): UsageRecord {
  return records.reduce<UsageRecord>(
    (sum, { requests, chargedMicro, tokens, ...rest }) => ({
      by: {},
      requests: sum.requests + requests,
      chargedMicro: sum.chargedMicro + chargedMicro,
      tokens: addCounts(sum.tokens, tokens),
      ...addedIfThere(sum, rest, "costMicro"),
      ...addedIfThere(sum, rest, "costedMicro"),
      ...addedIfThere(sum, rest, "marginMicro"),
      ...addedIfThere(sum, rest, "refusals"),
      ...addedIfThere(sum, rest, "failures"),
    }),
    { by: {}, requests: 0, chargedMicro: 0, tokens: noTokens },
  );
}

type Optional = "costMicro" | "costedMicro" | "marginMicro" | "refusals" | "failures";

function addedIfThere(one: Partial<UsageRecord>, other: Partial<UsageRecord>, name: Optional): Partial<UsageRecord> {
  const [before, more] = [one[name], other[name]];
  return before === undefined && more === undefined ? {} : { [name]: (before ?? 0) + (more ?? 0) };
}

/** So many of the latest requests tell how long things take: one page of the log, however many there are. */
const looked = 1_000;

/** The latest requests that streamed an answer, with the time to its first byte. Empty where requests are not logged. */
async function latestStreams(gateway: Gateway, from: number): Promise<readonly LoggedRequest[]> {
  const page = await unlessUnsupported(() => gateway.requests.list({ from, limit: looked }));
  return (page?.requests ?? []).filter(
    ({ stream, status, durations }) => stream && status < 400 && durations.firstByte !== undefined,
  );
}

/** An answer that does not stream has its first output at its end, which says nothing of the model server. */
function firstOutputOf(streams: readonly LoggedRequest[]): FirstOutput | null {
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

/** Who reads the page, and how this process is. It asks no store. */
export function healthRoute({ gateway, clock, live, readOnly }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator>({
    method: "GET",
    path: "health",
    async answer({ identity: { operator } }) {
      const { models, ledgers, requestLog } = gateway.health();
      const health: OperatorHealth = {
        ...{ operator, read_only: readOnly, live: live !== undefined, now: toSeconds(clock.now()) },
        models: Object.entries(models).map(([id, { available, queued }]) => ({ id, available, queued })),
        targets: targetsOf(models),
        ledgers: ledgers.map(toLedger),
        request_log: orNull(requestLog),
        audit_lost: gateway.audit.lost,
      };
      return { json: health };
    },
  });
}

function targetsOf(models: GatewayHealth["models"]): readonly OperatorTarget[] {
  return Object.entries(models).flatMap(([model, { targets }]) =>
    targets.map(({ provider, model: upstream, state, active, answered, failed, failureRate, availableAt }) => ({
      ...{ model, provider, upstream, state, active, answered, failed },
      failure_rate: orNull(failureRate),
      available_at: toSeconds(orNull(availableAt)),
    })),
  );
}

function toLedger({ shard, downSince, outages, lastOutage, kept, keptSince, lost }: LedgerHealth): OperatorLedger {
  return {
    ...{ shard: orNull(shard), down_since: toSeconds(orNull(downSince)), outages },
    last_outage: lastOutage === undefined ? null : { from: toSeconds(lastOutage.from), to: toSeconds(lastOutage.to) },
    ...{ kept, kept_since: toSeconds(orNull(keptSince)), lost },
  };
}
