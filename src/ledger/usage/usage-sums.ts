import { journalTagPrefix } from "../../metering/tags.js";
import type { EntryTags, LedgerEntry } from "../credit-ledger.js";
import { dayMs } from "../windows.js";
import { addUsage, noUsage } from "./add-usage.js";
import { compareNames } from "./compare-names.js";
import type { UsageSum, UsageTotal } from "./usage-sum.js";
import { usedOf, usedParts } from "./used-parts.js";

/** Sums of usage, as they grow. */
export class UsageSums {
  readonly #names: readonly string[];
  readonly #sums = new Map<string, UsageSum>();

  /** @param names - `day`, `model`, `key`, `funding`, and the names of tags. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Adds an entry of a journal, if it charges or gives back. By `funding`, one that both paid is in the sums of both. */
  addEntry(entry: LedgerEntry): void {
    if (this.#names.includes("funding")) {
      for (const part of usedParts(entry)) this.#add(this.#valuesOf(entry, part.funding), part);
      return;
    }
    const whole = usedOf(entry);
    if (whole !== undefined) this.#add(this.#valuesOf(entry, "plan"), whole);
  }

  /** Adds a sum by the same names. */
  addSum(sum: UsageSum): void {
    const values = this.#names.map((name) => sum.by[name] ?? null);
    this.#add(values, sum);
  }

  /** The sums of which something is left, sorted by the names, the newest day first. */
  list(): UsageSum[] {
    return [...this.#sums.values()]
      .filter(({ requests, chargedMicro }) => requests > 0 || chargedMicro !== 0)
      .sort((one, other) => {
        for (const name of this.#names) {
          const order = compareNames(one.by[name] ?? null, other.by[name] ?? null);
          if (order !== 0) return name === "day" ? -order : order;
        }
        return 0;
      });
  }

  #valuesOf(entry: LedgerEntry, funding: "plan" | "prepaid"): (string | null)[] {
    return this.#names.map((name) => (name === "funding" ? funding : dimensionOf(entry, name)));
  }

  #add(values: readonly (string | null)[], used: UsageTotal): void {
    const group = JSON.stringify(values);
    const known = this.#sums.get(group);
    const by = known?.by ?? Object.fromEntries(this.#names.map((name, index) => [name, values[index] ?? null]));
    this.#sums.set(group, { by, ...addUsage(known ?? noUsage, used) });
  }
}

/** The day of a moment in UTC, such as `2026-03-11`. */
export function dayOf(at: number): string {
  return new Date(Math.floor(at / dayMs) * dayMs).toISOString().slice(0, 10);
}

function dimensionOf(entry: LedgerEntry, name: string): string | null {
  return name === "day" ? dayOf(entry.at) : text(entry.tags, name);
}

function text(tags: EntryTags, name: string): string | null {
  const tag = tags[name === "model" ? "model" : name === "key" ? "keyId" : journalTagPrefix + name];
  return typeof tag === "string" ? tag : null;
}
