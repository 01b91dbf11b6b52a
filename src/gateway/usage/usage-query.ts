import * as z from "zod";
import { checkInput, InputError } from "../../check/check-input.js";
import { freeText, isTagName, recordOf } from "../../check/text-schemas.js";
import {
  mostPeriods,
  type TotalsFilter,
  type TotalsRequest,
  totalsDimensions,
} from "../../ledger/usage/usage-request.js";
import { journalTagPrefix, meantDimension } from "../../prices/tags.js";
import { latestDate, wholeInstant } from "../../records/keys/check-key.js";
import type { Instant } from "../../records/keys/key-store.js";
import { type Every, splitTime } from "./split-time.js";

/** Which usage {@link Gateway.usage} adds up, and by what. */
export interface UsageQuery {
  /** Inclusive. Default: the beginning of what the ledger keeps; with `every` it is required. */
  from?: Instant | undefined;
  /** Exclusive. Default: now, and what is of this very millisecond with it. */
  to?: Instant | undefined;
  /**
   * Some of `account`, `plan`, `model`, `target` (such as `openai/gpt-4o-mini`), `key`, `funding` and the names of tags, up to
   * 16. A tag with one of those names is `tag.plan`. Default: none.
   */
  by?: readonly string[] | undefined;
  /** Only what has this value, or one of up to 1,000, of each of these names: those of `by`, up to 16. `null`: what has no such thing. */
  where?: Readonly<Record<string, string | null | readonly (string | null)[]>> | undefined;
  /** Adds up each hour or day by itself, up to 10,000. Default: all of the time together. */
  every?: Every | undefined;
  /** Whose hours and days are meant, such as `Asia/Kolkata`. Default: `UTC`. */
  timeZone?: string | undefined;
  /**
   * Whether there are records of nothing used, too, where all requests were refused or failed: of a request that was refused
   * before its model was known, `model` is `null`. Only with `requestLog`. Default: `false`.
   */
  refusals?: boolean | undefined;
}

/** A query that was checked. */
export interface CheckedQuery {
  readonly request: TotalsRequest;
  /** As they were named, in the order of the request. */
  readonly names: readonly string[];
  readonly every: { readonly every: Every; readonly timeZone: string } | undefined;
  readonly refusals: boolean;
}

const by = "gateway.usage";
/** Names that are taken for others. */
const mistaken: Readonly<Record<string, string>> = {
  ...{ accounts: "account", accountId: "account", account_id: "account", user: "account" },
  ...{ plans: "plan", planId: "plan", targets: "target", provider: "target", upstream: "target" },
};

const mostValues = "must have 1 to 1,000 values";
const value = freeText(1_000).nullable();
const values = z.preprocess(
  (given) => (Array.isArray(given) ? given : [given]),
  z.array(value).min(1, mostValues).max(1_000, mostValues),
);
const queryInput = z.strictObject({
  from: wholeInstant,
  to: wholeInstant,
  by: z.array(z.string()).max(16).optional(),
  where: recordOf({
    values,
    most: 16,
    error: 'must be an object of texts, such as { plan: "pro" }',
  }).optional(),
  every: z.enum(["hour", "day"]).optional(),
  timeZone: z.string().optional(),
  refusals: z.boolean().default(false),
});

/** @throws TypeError when the query is not valid. */
export async function checkQuery(query: UsageQuery, now: number): Promise<CheckedQuery> {
  const { from, to, every, timeZone = "UTC", refusals, ...input } = checkInput(by, queryInput, query);
  const names = input.by ?? [];
  const dimensions = names.map((name) => dimensionOf(name, "by"));
  requireDistinct(dimensions, "by");
  const filters = Object.entries(input.where ?? {}).map(([name, values]) => {
    return [dimensionOf(name, "where"), values] as const;
  });
  // One of two would take the other's place, and more would be added up than is asked for.
  requireDistinct(
    filters.map(([name]) => name),
    "where",
  );
  const where: TotalsFilter = Object.fromEntries(filters);
  const range = { from: from ?? undefined, to: to ?? now + 1 };
  const split = every === undefined ? undefined : { every, timeZone };
  const request = { periods: await periodsOf(range, split), by: dimensions, where };
  return { request, names, every: split, refusals };
}

async function periodsOf(
  { from, to }: { from: number | undefined; to: number },
  split: CheckedQuery["every"],
): Promise<readonly number[]> {
  if (split === undefined) {
    const begin = from ?? -latestDate;
    return [begin, Math.max(begin, to)];
  }
  if (from === undefined) throw new InputError(`${by}: give \`from\`: with \`every\`, the time must have a beginning.`);
  let moments: readonly number[] | undefined;
  try {
    moments = await splitTime({ from, to: Math.max(from, to) }, { ...split, most: mostPeriods });
  } catch {
    throw new InputError(
      `${by}: timeZone: must be a time zone of the IANA database, such as Europe/Berlin, not ${JSON.stringify(split.timeZone)}.`,
    );
  }
  if (moments === undefined) {
    throw new InputError(
      `${by}: more than ${mostPeriods} periods. Ask for a shorter time, or for days instead of hours.`,
    );
  }
  return moments;
}

function requireDistinct(dimensions: readonly string[], member: string): void {
  if (new Set(dimensions).size === dimensions.length) return;
  throw new InputError(`${by}: ${member} must name each thing once.`);
}

/** @param member - where the name stands, for errors. */
function dimensionOf(name: string, member: string): string {
  if (totalsDimensions.includes(name)) return name;
  if (name.startsWith(journalTagPrefix) && isTagName(name.slice(journalTagPrefix.length))) return name;
  const meant = Object.hasOwn(mistaken, name) ? mistaken[name] : meantDimension(name);
  if (meant === undefined && isTagName(name)) return journalTagPrefix + name;
  const hint =
    meant === "day" ? " (did you mean `every`?)" : meant === undefined ? "" : ` (did you mean \`${meant}\`?)`;
  throw new InputError(
    `${by}: ${member}: must be ${totalsDimensions.join(", ")} or the name of a tag, not \`${name.slice(0, 64)}\`${hint}.`,
  );
}
