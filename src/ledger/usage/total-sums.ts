import { journalTagPrefix } from "../../metering/tags.js";
import { addUsage, noUsage } from "./add-usage.js";
import { compareGroups, groupKey } from "./compare-groups.js";
import { mostTotals, tooManyTotals } from "./most-totals.js";
import type { UsageTotal } from "./usage-sum.js";
import type { PeriodTotal, TotalsRequest } from "./usage-totals.js";
import { type UsedEntry, type UsedPart, usedOf, usedParts } from "./used-parts.js";

/** Usage of any accounts, as it is added up. */
export class TotalSums {
  readonly #request: TotalsRequest;
  /** By the period and what is alike. */
  readonly #totals = new Map<string, PeriodTotal>();
  readonly #needsFunding: boolean;

  constructor(request: TotalsRequest) {
    this.#request = request;
    this.#needsFunding = request.by.includes("funding") || Object.hasOwn(request.where, "funding");
  }

  /** Adds an entry of an account's journal, if it charges or gives back, and is asked for. */
  addEntry(account: string, entry: UsedEntry): void {
    const period = placeIn(this.#request.periods, entry.at);
    if (period === undefined) return;
    const whole = this.#needsFunding ? undefined : usedOf(entry);
    for (const part of whole === undefined ? usedParts(entry) : [whole]) this.#addPart(period, account, entry, part);
  }

  /** Adds what was added up elsewhere by the same names. @throws LedgerInputError when there are too many sums. */
  add(total: PeriodTotal): void {
    const { period, by } = total;
    const place = groupKey(total);
    const known = this.#totals.get(place) ?? this.#begun(period, by);
    this.#totals.set(place, {
      period,
      by,
      ...addUsage(known, total),
    });
  }

  #begun(period: number, by: PeriodTotal["by"]): PeriodTotal {
    if (this.#totals.size >= mostTotals) throw tooManyTotals();
    return { period, by, ...noUsage };
  }

  /** Those of which something is left, by their periods, and then by what is alike. */
  list(): readonly PeriodTotal[] {
    return [...this.#totals.values()]
      .filter(({ requests, chargedMicro }) => requests > 0 || chargedMicro !== 0)
      .sort(compareGroups);
  }

  #addPart(period: number, account: string, entry: UsedEntry, part: UsageTotal | UsedPart): void {
    const dimensionOf = (name: string): string | null => {
      if (name === "account") return account;
      return name === "funding" ? (part as UsedPart).funding : valueOfTag(entry, name);
    };
    const { by, where } = this.#request;
    for (const [name, values] of Object.entries(where)) if (!values.includes(dimensionOf(name))) return;
    this.add({ ...part, period, by: by.map(dimensionOf) });
  }
}

/** The period of a moment: between the first and the last of these. */
export function placeIn(periods: readonly number[], moment: number): number | undefined {
  let [first, last] = [0, periods.length - 1];
  if (moment < (periods[first] as number) || moment >= (periods[last] as number)) return undefined;
  while (last - first > 1) {
    const middle = (first + last) >> 1;
    if ((periods[middle] as number) <= moment) first = middle;
    else last = middle;
  }
  return first;
}

function valueOfTag({ tags }: UsedEntry, name: string): string | null {
  const tag = tags[name === "key" ? "keyId" : name];
  return typeof tag === "string" && isDimension(name) ? tag : null;
}

function isDimension(name: string): boolean {
  return (
    name === "plan" || name === "model" || name === "target" || name === "key" || name.startsWith(journalTagPrefix)
  );
}
