import type { Micro } from "../../metering/micro.js";
import { noCounts, type SummedCounts } from "../../metering/summed-counts.js";
import { costTag } from "../../metering/tags.js";
import { summedUnits } from "../../metering/usage-counts.js";
import type { EntryTags, LedgerEntry } from "../credit-ledger.js";
import type { UsageTotal } from "./usage-sum.js";
import { type UsedCosts, usedCosts } from "./used-costs.js";

/** An entry of a journal, wherever it stands. */
export type UsedEntry = Omit<LedgerEntry, "sequence">;

type UsedCall = Omit<UsedEntry, "at">;

/** What of an entry one of the two paid. */
export interface UsedPart extends UsageTotal {
  readonly funding: "plan" | "prepaid";
}

/** What an entry of a journal charges or gives back, in all. `undefined`: it is no call and moves no credits. */
export function usedOf({ kind, amountMicro, tags }: UsedCall): UsageTotal | undefined {
  const isPartOfCall = kind === "checkpoint" || kind === "release";
  if (kind !== "charge" && !(isPartOfCall && amountMicro !== 0)) return undefined;
  return {
    requests: kind === "charge" ? 1 : 0,
    chargedMicro: amountMicro,
    ...costsOf(tags, amountMicro),
    tokens: tokensOf(tags),
  };
}

/** The same by who paid. Of one that both paid, the request, its cost and the tokens are with what the plan paid. */
export function usedParts(entry: UsedCall): readonly UsedPart[] {
  const whole = usedOf(entry);
  if (whole === undefined) return [];
  const { prepaidMicro: prepaid = 0 } = entry;
  if (prepaid === 0) return [{ ...whole, funding: "plan" }];
  if (prepaid === entry.amountMicro) return [{ ...whole, funding: "prepaid" }];
  return [
    partOf(whole, { funding: "plan", chargedMicro: entry.amountMicro - prepaid }),
    partOf({ ...whole, requests: 0, costMicro: 0, tokens: noCounts }, { funding: "prepaid", chargedMicro: prepaid }),
  ];
}

function partOf(whole: UsageTotal, paid: Pick<UsedPart, "funding" | "chargedMicro">): UsedPart {
  const { costedMicro, costMicro = 0, ...rest } = whole;
  const costs = costedMicro === undefined ? undefined : usedCosts(costMicro, paid.chargedMicro);
  return { ...rest, ...costs, ...paid };
}

function costsOf(tags: EntryTags, chargedMicro: Micro): UsedCosts | undefined {
  const cost = tags[costTag];
  if (cost === undefined) return undefined;
  return usedCosts(typeof cost === "number" ? cost : 0, chargedMicro);
}

function tokensOf(tags: EntryTags): SummedCounts {
  const count = (name: string): number => {
    const tag = tags[name];
    return typeof tag === "number" ? tag : 0;
  };
  const tokens: SummedCounts = {
    input: count("input"),
    cachedInput: count("cachedInput"),
    output: count("output"),
    reasoning: count("reasoning"),
  };
  const { cacheWrite } = tags;
  if (typeof cacheWrite === "number") tokens.cacheWrite = cacheWrite;
  for (const unit of summedUnits) {
    const used = tags[unit];
    if (typeof used === "number") tokens[unit] = used;
  }
  return tokens;
}
