import { noTokens, type TokenCounts } from "../../metering/token-counts.js";
import type { EntryTags, LedgerEntry } from "../credit-ledger.js";
import { prepaidOfEntry } from "../funding.js";
import type { UsageTotal } from "./usage-sum.js";

/** An entry of a journal, wherever it stands. */
export type UsedEntry = Omit<LedgerEntry, "sequence">;

/** What of an entry one of the two paid. */
export interface UsedPart extends UsageTotal {
  readonly funding: "plan" | "prepaid";
}

/** What an entry of a journal charges or gives back, in all. `undefined`: it does neither. */
export function usedOf({ kind, amountMicro, tags }: UsedEntry): UsageTotal | undefined {
  if (kind !== "charge" && kind !== "checkpoint" && kind !== "release") return undefined;
  return { requests: kind === "charge" ? 1 : 0, chargedMicro: amountMicro, tokens: tokensOf(tags) };
}

/** The same by who paid. Of one that both paid, the request and the tokens are with what the plan paid. */
export function usedParts(entry: UsedEntry): readonly UsedPart[] {
  const whole = usedOf(entry);
  if (whole === undefined) return [];
  const prepaid = prepaidOfEntry(entry);
  if (prepaid === 0) return [{ ...whole, funding: "plan" }];
  if (prepaid === entry.amountMicro) return [{ ...whole, funding: "prepaid" }];
  return [
    { ...whole, funding: "plan", chargedMicro: entry.amountMicro - prepaid },
    { funding: "prepaid", requests: 0, chargedMicro: prepaid, tokens: noTokens },
  ];
}

function tokensOf(tags: EntryTags): TokenCounts {
  const count = (name: string): number => {
    const tag = tags[name];
    return typeof tag === "number" ? tag : 0;
  };
  const tokens: TokenCounts = {
    input: count("input"),
    cachedInput: count("cachedInput"),
    output: count("output"),
    reasoning: count("reasoning"),
  };
  const { cacheWrite } = tags;
  if (typeof cacheWrite === "number") tokens.cacheWrite = cacheWrite;
  return tokens;
}
