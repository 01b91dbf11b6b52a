import * as z from "zod";
import { isTagName } from "../../check/tags-input.js";
import { invalidValue } from "../../errors/gateway-error.js";
import type { UsageRecord } from "../../gateway/usage/gateway-usage.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { toCredits, toSeconds } from "../server/units.js";
import type { Reader } from "./account-identity.js";
import type { AccountUsage } from "./account-page-api.js";
import type { AccountServices } from "./account-services.js";

/** Epoch seconds, as a query has them. */
export const querySeconds = z.coerce.number().int().min(0).max(8.64e12);

const query = z.strictObject({
  from: querySeconds,
  to: querySeconds.optional(),
  every: z.enum(["hour", "day"]).optional(),
  time_zone: z.string().max(64).optional(),
  /** Names, with commas between. */
  by: z.string().max(400).optional(),
});

const longestDays = { hour: 32, day: 400, none: 400 };
const daySeconds = 86_400;
const mostRows = 10_000;

/** What was used, by hours or days, models, keys and tags. What calls cost the operator is not in it. */
export function usageRoute({ gateway, clock }: AccountServices): PageRoute<Reader> {
  return pageRoute<Reader, typeof query>({
    method: "GET",
    path: "usage",
    query,
    async answer({ identity, query: { from, to = toSeconds(clock.now()) + 1, every, time_zone, by } }) {
      const most = longestDays[every ?? "none"];
      if (to - from > most * daySeconds) throw invalidValue("from", `The time must be ${most} days at most.`);
      const records = await gateway.usage({
        from: from * 1000,
        to: to * 1000,
        by: namesOf(by),
        refusals: true,
        where: { account: identity.account, ...ownFilter(identity) },
        ...(every !== undefined && { every, timeZone: time_zone }),
      });
      if (records.length > mostRows) {
        throw invalidValue("by", `That would be ${records.length} sums. Ask for a shorter time, or for less apart.`);
      }
      return { json: { data: records.map(toUsage), next: null } };
    },
  });
}

/** Only what carries a member's own tags. */
export function ownFilter({ role, tags }: Reader): Record<string, string> {
  const own = role === "member" ? Object.entries(tags) : [];
  return Object.fromEntries(own.map(([name, value]) => [`tag.${name}`, value]));
}

/** Neither the targets nor what else is the operator's. */
function namesOf(by: string | undefined): string[] {
  const names = by === undefined || by === "" ? [] : by.split(",");
  const other = names.find(
    (name) => !["model", "key", "funding"].includes(name) && !(name.startsWith("tag.") && isTagName(name.slice(4))),
  );
  if (other === undefined && names.length <= 4) return names;
  throw invalidValue("by", "`by` must be up to four of model, key, funding and tags, such as tag.member.");
}

function toUsage({ by, period, requests, chargedMicro, tokens, refusals, failures }: UsageRecord): AccountUsage {
  return {
    by,
    period: period === undefined ? null : { name: period.name, from: toSeconds(period.from), to: toSeconds(period.to) },
    requests,
    credits: toCredits(chargedMicro),
    input_tokens: tokens.input,
    cached_tokens: tokens.cachedInput,
    output_tokens: tokens.output,
    refusals: refusals ?? null,
    failures: failures ?? null,
  };
}
