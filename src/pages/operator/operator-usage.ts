import type { UsageRecord } from "../../gateway/usage/gateway-usage.js";
import { addCounts, noCounts } from "../../metering/summed-counts.js";
import { toCredits, toSeconds } from "../server/units.js";
import { orNull } from "./operator-input.js";
import type { OperatorUsage } from "./operator-page-api.js";

/** With what calls have cost, and where they went. */
export function toOperatorUsage({ by, period, requests, chargedMicro, tokens, ...rest }: UsageRecord): OperatorUsage {
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
export function sumOfUsage(records: readonly UsageRecord[]): UsageRecord {
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
    { by: {}, requests: 0, chargedMicro: 0, tokens: noCounts },
  );
}

type Optional = "costMicro" | "costedMicro" | "marginMicro" | "refusals" | "failures";

function addedIfThere(one: Partial<UsageRecord>, other: Partial<UsageRecord>, name: Optional): Partial<UsageRecord> {
  const [before, more] = [one[name], other[name]];
  return before === undefined && more === undefined ? {} : { [name]: (before ?? 0) + (more ?? 0) };
}
