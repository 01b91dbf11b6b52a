import { isRecord } from "../wire/is-record.js";

/** Tokens by kind, as they are priced. */
export interface TokenCounts {
  /** The whole prompt. */
  input: number;
  /** The part of `input` that came from the upstream's cache. */
  cachedInput: number;
  /** The part of `input` that the upstream put into its cache. It does not overlap with `cachedInput`. Absent: none. */
  cacheWrite?: number;
  /** The part of `cacheWrite` that the upstream keeps for an hour. Absent: none. Sums of usage do not have it. */
  cacheWrite1h?: number;
  /** The whole response. */
  output: number;
  /** Part of `output` that was reasoning. */
  reasoning: number;
}

/** The most that is counted at once. What reports more is mistaken. */
export const largestCount = 1e9;

/** Reads a count of tokens. @returns `undefined` when it is none. */
export function readTokenCount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= largestCount ? Math.ceil(value) : undefined;
}

/** Shared by all that count none. */
export const noTokens: Readonly<TokenCounts> = Object.freeze({ input: 0, cachedInput: 0, output: 0, reasoning: 0 });

function addTokens(one: TokenCounts, other: TokenCounts): TokenCounts {
  const cacheWrite = (one.cacheWrite ?? 0) + (other.cacheWrite ?? 0);
  const cacheWrite1h = (one.cacheWrite1h ?? 0) + (other.cacheWrite1h ?? 0);
  return {
    input: one.input + other.input,
    cachedInput: one.cachedInput + other.cachedInput,
    ...(cacheWrite === 0 ? undefined : { cacheWrite }),
    ...(cacheWrite1h === 0 ? undefined : { cacheWrite1h }),
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  };
}

/** Images that are alike. */
export interface ImageCount {
  /** As its model calls it, such as `high`. Absent: it is not known. */
  quality?: string | undefined;
  /** Width and height in pixels, such as `1024x1024`. Absent: it is not known. */
  size?: string | undefined;
  /** How many. */
  count: number;
}

/**
 * What was used: tokens, and what is no plain token. What is absent is none. Tokens of images and audio are parts of `input`,
 * `cachedInput` and `output`, and do not overlap. A part that is larger than its whole counts as the whole.
 */
export interface UsageCounts extends TokenCounts {
  inputImage?: number;
  inputAudio?: number;
  cachedInputImage?: number;
  cachedInputAudio?: number;
  outputImage?: number;
  outputAudio?: number;
  /** Images that were made. */
  images?: readonly ImageCount[];
  /** Audio that was heard, in milliseconds. */
  audioMs?: number;
  /** Characters that were spoken: code points. */
  characters?: number;
  /** Searches, as a reranking model counts them. */
  searches?: number;
  /** The tier that served it, such as `priority`, where it is not the usual one. Sums of usage do not have it. */
  serviceTier?: string;
}

/** What is counted beside tokens, by one number each. */
export const plainUnits = ["audioMs", "characters", "searches"] as const;

/** What is counted beside tokens. */
export const usageUnits = ["images", ...plainUnits] as const;

/** Something that is counted beside tokens. */
export type CountedUnit = (typeof usageUnits)[number];

/** Tokens that are parts of others, by what they stand for. */
export const tokenParts = [
  "inputImage",
  "inputAudio",
  "cachedInputImage",
  "cachedInputAudio",
  "outputImage",
  "outputAudio",
] as const;

/**
 * What sums of usage have beside plain tokens. Stores keep them by their place: once a release is out, a new one comes last.
 */
export const summedUnits = [...usageUnits, ...tokenParts] as const;

/** Something that sums of usage have beside plain tokens. */
export type SummedUnit = (typeof summedUnits)[number];

/** @returns how many images there are, of whatever kind; `undefined`: none are counted. */
export function imagesOf({ images }: UsageCounts): number | undefined {
  return images?.reduce((sum, { count }) => sum + count, 0);
}

/** What two attempts have used. */
export function addUsed(one: UsageCounts, other: UsageCounts): UsageCounts {
  const sum: UsageCounts = addTokens(one, other);
  for (const name of [...tokenParts, ...plainUnits] as const) {
    if (one[name] !== undefined || other[name] !== undefined) sum[name] = (one[name] ?? 0) + (other[name] ?? 0);
  }
  if (one.images !== undefined || other.images !== undefined) {
    sum.images = [...(one.images ?? []), ...(other.images ?? [])];
  }
  return sum;
}

/** What was used by several calls together. What is absent is none. */
export interface SummedCounts extends TokenCounts {
  /** Images that were made. */
  images?: number;
  /** Audio that was heard, in milliseconds. */
  audioMs?: number;
  /** Characters that were spoken: code points. */
  characters?: number;
  /** Searches, as reranking models count them. */
  searches?: number;
  /** Parts of `input` that stand for images and for audio. */
  inputImage?: number;
  inputAudio?: number;
  /** Parts of `cachedInput` that stand for images and for audio. */
  cachedInputImage?: number;
  cachedInputAudio?: number;
  /** Parts of `output` that stand for images and for audio. */
  outputImage?: number;
  outputAudio?: number;
}

export function addCounts(one: SummedCounts, other: SummedCounts): SummedCounts {
  const sum: SummedCounts = addTokens(one, other);
  for (const unit of summedUnits) {
    const count = (one[unit] ?? 0) + (other[unit] ?? 0);
    if (count !== 0) sum[unit] = count;
  }
  return sum;
}

/**
 * What a price is for and nobody has counted is not free: so much of it is charged as the call can use at the most. So are
 * the tokens of audio in a prompt, of which no sound has none, and in an answer that nobody has counted.
 * @param isEstimated - the answer's tokens are an estimate.
 * @returns the same counts where nothing lacks.
 */
export function withMissingUnits(
  used: UsageCounts,
  units: readonly CountedUnit[],
  most: UsageCounts,
  isEstimated = false,
): UsageCounts {
  const missing = units.filter((unit) => used[unit] === undefined && most[unit] !== undefined);
  const inputAudio = used.inputAudio ? 0 : Math.min(most.inputAudio ?? 0, used.input);
  const outputAudio = isEstimated && !used.outputAudio ? Math.min(most.outputAudio ?? 0, used.output) : 0;
  if (missing.length === 0 && inputAudio === 0 && outputAudio === 0) return used;
  return {
    ...used,
    ...(inputAudio > 0 && { inputAudio }),
    ...(outputAudio > 0 && { outputAudio }),
    ...Object.fromEntries(missing.map((unit) => [unit, most[unit]])),
  };
}

/** Adds to a journal entry's tags what was counted beside plain tokens. */
export function addUnitTags(tags: Record<string, string | number>, used: UsageCounts): void {
  for (const name of [...tokenParts, ...plainUnits] as const) {
    const count = used[name];
    if (count !== undefined) tags[name] = count;
  }
  const { images = [] } = used;
  const count = imagesOf(used);
  if (count !== undefined) tags["images"] = count;
  const isOfKind = images.some(({ quality, size }) => quality !== undefined || size !== undefined);
  if (!isOfKind) return;
  tags["imagesBy"] = images.map(({ quality = "*", size = "*", count }) => `${quality}/${size}:${count}`).join(",");
}

/** Reports are a few levels deep. */
const deepest = 8;

/** Of all vendors, the names of members that count: tokens, calls of tools. Cohere's `tokens` is an object of such. */
const countName = /.(?:tokens|tokencount|_requests|_queries)$/i;

/** The names of objects of counts. */
const holderName = /_details$|^cache_creation$|^server_tool_use$/;

/**
 * A usage report without the counts that cannot be any, such as negative ones, those that are larger than anybody's, and
 * texts, objects and lists in place of a number. No client gets them, whichever API it speaks: it would add them up.
 * @returns the same value where there is none.
 */
export function soundUsage(usage: unknown): unknown {
  return isSound(usage, 0) ? usage : sound(usage, 0);
}

/** Most reports are sound: to see it, nothing is copied. */
function isSound(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === deepest) return false;
  if (Array.isArray(value)) return value.every((each) => isSound(each, depth + 1));
  for (const name in value) {
    const member: unknown = (value as Record<string, unknown>)[name];
    if (isCountWrong(name, member) || !isSound(member, depth + 1)) return false;
  }
  return true;
}

function sound(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepest) return undefined;
  if (Array.isArray(value)) {
    const found = value.map((each) => sound(each, depth + 1));
    return found.some((each, index) => each !== value[index]) ? found.filter((each) => each !== undefined) : value;
  }
  if (!isRecord(value)) return value;
  let isChanged = false;
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const found = isCountWrong(name, member) ? undefined : sound(member, depth + 1);
    isChanged ||= found !== member;
    if (found !== undefined) kept.push([name, found]);
  }
  return isChanged ? Object.fromEntries(kept) : value;
}

function isCountWrong(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (countName.test(name)) return readTokenCount(value) === undefined || !Number.isInteger(value);
  return holderName.test(name) && !isRecord(value);
}

/** English prose, code and JSON have more bytes of UTF-8 per token. */
const bytesPerToken = 3;

/** A rough guess at the tokens of output of which only the size is known, for limits. Nothing is charged by it. */
export function guessTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}
