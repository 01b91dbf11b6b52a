import { journalTagPrefix } from "../../prices/tags.js";
import { summedUnits } from "../../prices/usage-counts.js";
import { runtime } from "../../runtime/this-runtime.js";
import { dayMs } from "../calendar.js";
import type { EntryTags, LedgerEntry } from "../credit-ledger.js";
import { toCounts, usedParts } from "./usage-total.js";

/**
 * A storage keeps sums of these lengths: days of UTC, and quarters of an hour, since every time zone begins its hours with one.
 * Each addition is added to one of each length: to the one that begins at `Math.floor(at / length) * length`, where `at` is when
 * the database writes it. A storage may make the longer ones later, of shorter ones, as long as what it returns is all.
 */
export const sumLengthsMs = [dayMs, dayMs / 96] as const;

/**
 * What tells sums apart beside their time, all of them texts. An account is its id, and `funding` is `plan` or `prepaid`; the others
 * are JSON, and empty where there is none.
 */
export const sumNames = ["account", "plan", "model", "target", "key", "funding", "tags"] as const;

export type SumName = (typeof sumNames)[number];

/** What is added to the sums of an account. */
export interface SumAddition {
  /** Stands for the names together: 22 characters of ASCII, of 128 bits at least. Other names have another one. */
  readonly digest: string;
  readonly names: Readonly<Record<SumName, string>>;
  /** What is added to the numbers of a sum, as many as {@link countsPerSum}. Most are 0. They may be negative, or fractions. */
  readonly counts: readonly number[];
}

/** So many numbers does a sum have: those of {@link toCounts}. */
export const countsPerSum = 9 + summedUnits.length;

/** Which sums are asked for. */
export interface AskedSums {
  /** One of {@link sumLengthsMs}. */
  readonly lengthMs: number;
  /** Only those that begin at this moment or later, in epoch milliseconds. */
  readonly from: number;
  /** Only those that begin earlier than this. */
  readonly to: number;
  /** Only those that have one of these texts in the columns that are named. */
  readonly where: Readonly<Partial<Record<SumName, readonly string[]>>>;
  /** What tells apart what is returned. All else is added up. */
  readonly by: readonly SumColumn[];
  readonly limit: number;
}

/** `begins`: when a sum begins, in epoch milliseconds. */
export type SumColumn = SumName | "begins";

export interface StoredSum {
  /** By the columns that were asked for, but for `begins`. */
  readonly names: Readonly<Partial<Record<SumName, string>>>;
  /** Where it was asked for. */
  readonly begins?: number | undefined;
  /** As {@link SumAddition.counts}. Beyond the safe integers they are rounded. */
  readonly counts: readonly number[];
}

/** In the place of the host's tags: they are not known, since the calls of the account's day had too many different sets of them. */
export const unknownTags = "?";

/** So many sets of tags does a process begin for an account in a day. */
const mostTagSets = 200;
const digestLength = 22;
/** So many are remembered of all accounts. */
const mostRemembered = 50_000;

type CalledEntry = Omit<LedgerEntry, "sequence" | "at" | "tags"> & { readonly tags: EntryTags | undefined };
type NamedSum = Pick<SumAddition, "digest" | "names">;

/** Makes of entries what they add to sums. */
export class SumAdditions {
  /** By their names: calls of an account are mostly alike. */
  readonly #named = new Map<string, NamedSum>();
  /** The sets of tags that accounts have had in a day. */
  readonly #tagSets = new Map<string, { readonly day: number; readonly sets: Set<string> }>();
  #remembered = 0;

  /** @param now - some moment near to the one at which they are written. */
  of(account: string, entries: readonly CalledEntry[], now: number): readonly SumAddition[] {
    const additions = new Map<NamedSum, number[]>();
    for (const { tags = {}, ...entry } of entries) {
      for (const part of usedParts({ ...entry, tags })) {
        const named = this.#nameOf(account, tags, { funding: part.funding, tags: this.#tagsOf(account, tags, now) });
        const counts = toCounts(part);
        const known = additions.get(named);
        if (known === undefined) additions.set(named, counts);
        else for (const [index, count] of counts.entries()) known[index] = (known[index] ?? 0) + count;
      }
    }
    return [...additions].map(([named, counts]) => ({ ...named, counts }));
  }

  #nameOf(account: string, tags: EntryTags, others: Pick<SumAddition["names"], "funding" | "tags">): NamedSum {
    const { plan, model, target, keyId } = tags;
    // Each with its length: no text is taken for the end of another one.
    let place = `${others.funding} ${others.tags}`;
    for (const name of [account, plan, model, target, keyId]) {
      place += typeof name === "string" ? ` ${name.length}:${name}` : " -";
    }
    let named = this.#named.get(place);
    if (named === undefined) {
      const names = { ...namesOf(account, tags), ...others };
      named = { digest: runtime.sha256(place, "base64url").slice(0, digestLength), names };
      if (this.#named.size >= mostRemembered) this.#named.clear();
      this.#named.set(place, named);
    }
    return named;
  }

  /** Each call may have a set of its own. Sums would be no fewer than entries are. */
  #tagsOf(account: string, tags: EntryTags, now: number): string {
    const own = hostTags(tags);
    if (own === "") return own;
    const day = Math.floor(now / dayMs);
    let known = this.#tagSets.get(account);
    if (known === undefined || known.day < day) {
      known = { day, sets: new Set() };
      this.#tagSets.set(account, known);
    }
    const { sets } = known;
    if (sets.has(own)) return own;
    if (sets.size >= mostTagSets) return unknownTags;
    if (this.#remembered >= mostRemembered) {
      this.#remembered = 0;
      this.#tagSets.clear();
      return this.#tagsOf(account, tags, now);
    }
    this.#remembered++;
    sets.add(own);
    return own;
  }
}

function namesOf(account: string, tags: EntryTags): Omit<SumAddition["names"], "funding" | "tags"> {
  return {
    account,
    plan: toSumName(tags["plan"]),
    model: toSumName(tags["model"]),
    target: toSumName(tags["target"]),
    key: toSumName(tags["keyId"]),
  };
}

/** What is no text counts as none. JSON, since some databases keep neither NUL nor half a surrogate pair. */
export function toSumName(value: string | number | null | undefined): string {
  return typeof value === "string" ? JSON.stringify(value) : "";
}

/** The host's tags in the order of their names, without their prefix: pairs, since a name may be one that objects have. */
function hostTags(tags: EntryTags): string {
  let own: [string, string][] | undefined;
  for (const name in tags) {
    const value = tags[name];
    if (!name.startsWith(journalTagPrefix) || typeof value !== "string") continue;
    own ??= [];
    own.push([name.slice(journalTagPrefix.length), value]);
  }
  return own === undefined ? "" : JSON.stringify(own.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A range of time. The end is exclusive. */
export interface UsageSpan {
  readonly from: number;
  readonly to: number;
}

/** A range of time that sums of a length fill. */
export interface SummedSpan extends UsageSpan {
  /** `undefined`: no sum is short enough, so that the journal must answer. */
  readonly lengthMs: number | undefined;
}

/** The moments that a date can have: nothing is written at any other. */
const firstMoment = -8_640_000_000_000_000;
const lastMoment = 8_640_000_000_000_000;

/** A range within the moments that there are. */
export function spanOf(from: number | undefined, to: number | undefined): UsageSpan {
  return { from: Math.max(from ?? firstMoment, firstMoment), to: Math.min(to ?? lastMoment, lastMoment) };
}

/** Divides a range: what whole sums of the first length fill, and beside it what those of the next one do. In the order of time. */
export function summedSpans({ from, to }: UsageSpan, lengths: readonly number[]): readonly SummedSpan[] {
  if (from >= to) return [];
  const [length, ...shorter] = lengths;
  if (length === undefined) return [{ lengthMs: undefined, from, to }];
  const begin = Math.ceil(from / length) * length;
  const end = Math.floor(to / length) * length;
  if (begin >= end) return summedSpans({ from, to }, shorter);
  return [
    ...summedSpans({ from, to: begin }, shorter),
    { lengthMs: length, from: begin, to: end },
    ...summedSpans({ from: end, to }, shorter),
  ];
}
