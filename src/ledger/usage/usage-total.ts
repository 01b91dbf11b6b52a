import type { Micro } from "../../prices/micro.js";
import { costTag } from "../../prices/tags.js";
import { addCounts, noTokens, type SummedCounts, summedUnits } from "../../prices/usage-counts.js";
import type { EntryTags, LedgerEntry } from "../credit-ledger.js";
import type { UsageTotal } from "./usage-request.js";

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
    partOf({ ...whole, requests: 0, costMicro: 0, tokens: noTokens }, { funding: "prepaid", chargedMicro: prepaid }),
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

export const noUsage: Readonly<UsageTotal> = { requests: 0, chargedMicro: 0, tokens: noTokens };

export function addUsage(one: UsageTotal, other: UsageTotal): UsageTotal {
  return {
    requests: one.requests + other.requests,
    chargedMicro: one.chargedMicro + other.chargedMicro,
    ...addCosts(one, other),
    tokens: addCounts(one.tokens, other.tokens),
  };
}

/**
 * @param counts - calls and credits, tokens by kind, units in the order of {@link summedUnits}, what the calls cost, and what
 * those of a known cost were charged.
 */
export function toUsageTotal(counts: readonly number[]): UsageTotal {
  const [requests = 0, chargedMicro = 0, input = 0, cachedInput = 0, cacheWrite = 0, ...rest] = counts;
  const [output = 0, reasoning = 0, ...others] = rest;
  const [costMicro = 0, costedMicro = 0] = others.slice(summedUnits.length);
  const tokens: SummedCounts = {
    input,
    cachedInput,
    ...(cacheWrite !== 0 && { cacheWrite }),
    output,
    reasoning,
  };
  for (const [place, unit] of summedUnits.entries()) {
    const count = others[place] ?? 0;
    if (count !== 0) tokens[unit] = count;
  }
  return {
    requests,
    chargedMicro,
    ...usedCosts(costMicro, costedMicro),
    tokens,
  };
}

/** The other way round. */
export function toCounts({ requests, chargedMicro, costMicro = 0, costedMicro = 0, tokens }: UsageTotal): number[] {
  const { input, cachedInput, cacheWrite = 0, output, reasoning } = tokens;
  const units = summedUnits.map((unit) => tokens[unit] ?? 0);
  return [requests, chargedMicro, input, cachedInput, cacheWrite, output, reasoning, ...units, costMicro, costedMicro];
}

/** What calls cost the operator, where that is known. */
type UsedCosts = Pick<UsageTotal, "costMicro" | "costedMicro">;

function usedCosts(costMicro: Micro, costedMicro: Micro): UsedCosts {
  return costMicro === 0 && costedMicro === 0 ? {} : { costMicro, costedMicro };
}

function addCosts(one: UsedCosts, other: UsedCosts): UsedCosts {
  return usedCosts((one.costMicro ?? 0) + (other.costMicro ?? 0), (one.costedMicro ?? 0) + (other.costedMicro ?? 0));
}
