import * as z from "zod";
import { isTagName } from "../../check/tags-input.js";
import { invalidValue } from "../../errors/gateway-error.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { toSeconds } from "../server/units.js";
import { firstOutputOf, latestStreams } from "./first-output.js";
import { secondsText } from "./operator-input.js";
import type { OperatorOverview, OperatorTargets } from "./operator-page-api.js";
import type { Operator, OperatorServices } from "./operator-services.js";
import { sumOfUsage, toOperatorUsage } from "./operator-usage.js";

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
const longestDays = { hour: 32, day: 400, none: 400 };
const mostRows = 10_000;

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
      const most = longestDays[every ?? "none"];
      if (to - from > most * 86_400) throw invalidValue("from", `The time must be ${most} days at most.`);
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
      if (every !== undefined && records.length > mostRows) {
        throw invalidValue("by", `That would be ${records.length} sums. Ask for a shorter time, or for less apart.`);
      }
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
      if (to - from > longestDays.day * 86_400) throw invalidValue("from", "The time must be 400 days at most.");
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
