import { largestCount, readTokenCount, type UsageCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";
import {
  type Counted,
  type CountPlace,
  cachedForMinutes,
  cacheTimes,
  countNames,
  countPlaces,
  modalityLists,
  unpricedUsage,
} from "./usage-report.js";

/**
 * Reads what a server says of the tokens of one response, whatever its words: a whole report, or the pieces of it that come
 * in the events of a stream. What stands in a later piece replaces what an earlier one said, since a server that translates
 * begins with an estimate. Zeros replace nothing, as some servers send them at the beginning, or at the end. The output only
 * grows. Nothing is added up but Anthropic's iterations.
 */
export class UsageTally {
  readonly #cachesStandBeside: boolean;
  #said: SaidCounts | undefined;
  #tier: string | undefined;
  #unpriced: string | undefined;
  #report: TokenReport | undefined;

  /**
   * @param cachesStandBeside - in this API, what came from a cache is no part of the prompt's count: Anthropic's. In all
   * others, it is, where the report does not show otherwise.
   */
  constructor(cachesStandBeside = false) {
    this.#cachesStandBeside = cachesStandBeside;
  }

  /** @returns what this piece alone counts; `undefined`: nothing. */
  add(usage: unknown): TokenReport | undefined {
    if (!isRecord(usage)) return undefined;
    this.tierCame(usage["service_tier"]);
    // Anthropic's fast mode has no tier, and a price of its own.
    this.#tier = readServiceTier(usage["speed"]) ?? this.#tier;
    this.#unpriced ??= unpricedUsage(usage);
    const own = countsOf(usage);
    const { iterations } = usage;
    if (Array.isArray(iterations)) atLeast(own, sumOfAll(iterations));
    const added = sumOfReport(own, this.#cachesStandBeside);
    if (this.#said !== undefined) {
      this.#said = merged(this.#said, own);
      this.#report = sumOfReport(this.#said, this.#cachesStandBeside);
    } else {
      this.#said = own;
      this.#report = added;
    }
    return added;
  }

  /** @param said - the tier that the response names: the last one serves it. */
  tierCame(said: unknown): void {
    if (typeof said === "string") this.#tier = readServiceTier(said);
  }

  /** `undefined` while nothing is counted. */
  get report(): TokenReport | undefined {
    const report = this.#report;
    if (report === undefined || this.#tier === undefined) return report;
    return { ...report, tokens: { ...report.tokens, serviceTier: this.#tier } };
  }

  /** The tier that served the response, where it is not the usual one. */
  get tier(): string | undefined {
    return this.#tier;
  }

  /** What was used beside tokens of the model, such as `web_search_requests`; `undefined`: nothing. */
  get unpriced(): string | undefined {
    return this.#unpriced;
  }
}

/** @returns `undefined` where it is none: absent, malformed, or zero throughout. */
export function readReport(usage: unknown, cachesStandBeside = false): TokenReport | undefined {
  const tally = new UsageTally(cachesStandBeside);
  tally.add(usage);
  return tally.report;
}

function countsOf(usage: Record<string, unknown>): SaidCounts {
  const said: SaidCounts = {};
  for (const name of countNames) {
    const count = countAt(usage, countPlaces[name]);
    if (count !== undefined) said[name] = count;
  }
  addModalities(usage, said);
  addCacheTimes(usage, said);
  return said;
}

/** The first count above zero, else zero if there is one. */
export function countAt(usage: Readonly<Record<string, unknown>>, places: readonly CountPlace[]): number | undefined {
  let found: number | undefined;
  for (const [holder, name] of places) {
    const held = usage[holder];
    if (held === undefined || held === null) continue;
    const count = readTokenCount(memberIn(usage, holder, name));
    if (count !== undefined && count > 0) return count;
    found ??= count;
  }
  return found;
}

function memberIn(usage: Readonly<Record<string, unknown>>, holder: string, name: string | undefined): unknown {
  const held = usage[holder];
  return name === undefined ? held : isRecord(held) ? held[name] : undefined;
}

function addModalities(usage: Record<string, unknown>, said: SaidCounts): void {
  for (const [list, part] of modalityLists) {
    const details = usage[list];
    if (!Array.isArray(details)) continue;
    for (const one of details) {
      if (isRecord(one) && one["modality"] === "AUDIO") said[part] = readTokenCount(one["tokenCount"]) ?? 0;
    }
  }
}

/** Anthropic's, Qwen's and OpenAI's: what was written to the cache, by how long it is kept. */
function addCacheTimes(usage: Record<string, unknown>, said: SaidCounts): void {
  const byTime = cacheTimesIn(usage);
  if (byTime === undefined) return;
  const all = Object.values(byTime).reduce<number>((sum, value) => sum + (readTokenCount(value) ?? 0), 0);
  const forMinutes = cachedForMinutes.reduce((sum, name) => sum + (readTokenCount(byTime[name]) ?? 0), 0);
  const part = said.written ? "written" : "writtenBeside";
  const written = Math.min(Math.max(said[part] ?? 0, all), largestCount);
  if (written > 0) said[part] = written;
  // Where some of it is kept for longer than minutes, so is what is not said.
  if (all > forMinutes) said.writtenForHour = written - forMinutes;
}

function cacheTimesIn(usage: Record<string, unknown>): Record<string, unknown> | undefined {
  for (const place of cacheTimes) {
    const found = memberIn(usage, place[0], place[1]);
    if (isRecord(found)) return found;
  }
  return undefined;
}

/** Far more than a message takes. */
const mostIterations = 1024;

/**
 * Of all model calls that a message took together: its own counts leave out what compactions and the like took, which
 * stands among the iterations alone.
 */
function sumOfAll(iterations: readonly unknown[]): SaidCounts {
  const sum: SaidCounts = {};
  for (const iteration of iterations.slice(0, mostIterations)) {
    if (!isRecord(iteration)) continue;
    for (const [name, count] of Object.entries(countsOf(iteration)) as [Counted, number][]) {
      sum[name] = Math.min((sum[name] ?? 0) + count, largestCount);
    }
  }
  return sum;
}

function atLeast(said: SaidCounts, { completion, ...least }: SaidCounts): void {
  if (said.completion !== undefined) said.completion = Math.max(said.completion, completion ?? 0);
  else if (completion !== undefined) said.leastCompletion = completion;
  for (const [name, count] of Object.entries(least) as [Counted, number][]) {
    said[name] = Math.max(said[name] ?? 0, count);
  }
}

function merged(earlier: SaidCounts, { total, ...later }: SaidCounts): SaidCounts {
  const all: SaidCounts = { ...earlier };
  // What was the whole prompt is no longer counted as one beside its caches.
  const caches = besideOf(later);
  if (caches > 0 && besideOf(earlier) === 0 && later.prompt === 0 && caches <= (earlier.prompt ?? 0)) all.prompt = 0;
  if (earlier.writtenForHour && later.writtenForHour === undefined) {
    all.writtenForHour = earlier.writtenForHour + Math.max(0, cachesOf(later).written - cachesOf(earlier).written);
  }
  for (const [name, count] of Object.entries(later) as [Counted, number][]) {
    const before = all[name];
    if (before === undefined) all[name] = count;
    else if (name === "completion" || name === "reasoning" || name === "ownReasoning")
      all[name] = Math.max(before, count);
    else if (count > 0) all[name] = count;
  }
  // A total is that of the counts beside it.
  if (total !== undefined && total > 0) all.total = total;
  else if (later.prompt || later.completion) delete all.total;
  return all;
}

function besideOf({ cachedBeside = 0, writtenBeside = 0 }: SaidCounts): number {
  return cachedBeside + writtenBeside;
}

/**
 * What the counts of a report come to. Servers differ in what is a part of what:
 *
 * - What came from a cache, and went into it, is a part of the prompt's count, or stands beside it. The total says which.
 *   Under the names of an API that has them beside it, they are no part of what is smaller.
 * - Where the total has more than is explained so, the rest is output that the completion's count leaves out, or audio that
 *   was heard.
 * - A total that is less than its parts says nothing.
 *
 * @param cachesStandBeside - the API has them beside the prompt.
 * @returns `undefined` where nothing is counted.
 */
function sumOfReport(said: SaidCounts, cachesStandBeside: boolean): TokenReport | undefined {
  const { prompt = 0, completion, total = 0, besidePrompt = 0, besideCompletion = 0 } = said;
  const told = completion === undefined && besideCompletion === 0 ? undefined : (completion ?? 0) + besideCompletion;
  const beside = cachesBeside(said, cachesStandBeside, total - prompt - (told ?? 0) - besidePrompt);
  // A prompt that nobody has counted is what the total leaves for it.
  const left = prompt === 0 && told ? total - told - besidePrompt : 0;
  const input = Math.max(prompt + beside, left);
  const unnamed = input === 0 ? 0 : Math.max(0, total - input - (told ?? 0) - besidePrompt);
  const heard = said.audioSeconds && told ? unnamed : 0;
  const rest = unnamed - heard;
  const hasOutput = told !== undefined || rest > 0;
  const output = Math.min(outputOf(said, hasOutput ? (told ?? 0) + rest : undefined), largestCount);
  const whole = Math.min(input + heard + besidePrompt, largestCount);
  if (whole + output === 0) return undefined;
  const tokens = tokensOf(said, whole, output);
  if (heard > 0) tokens.inputAudio = heard;
  return { tokens, hasInput: input > 0, hasOutput };
}

/** @param answered - `undefined`: it is not counted, but for some of it. */
function outputOf(said: SaidCounts, answered: number | undefined): number {
  const { reasoning = 0, ownReasoning = 0, leastCompletion = 0 } = said;
  if (answered === undefined) return Math.max(reasoning, ownReasoning, leastCompletion);
  return Math.max(ownReasoning > answered ? answered + ownReasoning : answered, leastCompletion);
}

/** How many tokens of a cache the prompt's count leaves out. @param rest - what the total has beside the two counts. */
function cachesBeside(said: SaidCounts, cachesStandBeside: boolean, rest: number): number {
  const { prompt = 0, completion, total, cachedBeside = 0, writtenBeside = 0 } = said;
  const reasoning = reasoningOf(said);
  const { cached, written } = cachesOf(said);
  const both = cached + written;
  const namedBeside = cachedBeside + writtenBeside;
  if (both === 0) return 0;
  if (cachesStandBeside && namedBeside > 0) return namedBeside;
  if (namedBeside === both && both > prompt) return both;
  if (total === undefined || completion === undefined || rest <= 0) return 0;
  const explained = [both, cached, written].find(
    (part) => part > 0 && (rest === part || (reasoning > 0 && rest === part + reasoning)),
  );
  return explained ?? (namedBeside === both && rest > both ? both : 0);
}

/** A server that has them under the names of two APIs counts them once. */
function cachesOf(said: SaidCounts): { readonly cached: number; readonly written: number } {
  return { cached: said.cachedBeside || said.cached || 0, written: said.writtenBeside || said.written || 0 };
}

function reasoningOf({ reasoning = 0, ownReasoning = 0 }: SaidCounts): number {
  return Math.max(reasoning, ownReasoning);
}

function tokensOf(said: SaidCounts, input: number, output: number): UsageCounts {
  const { writtenForHour = 0 } = said;
  const caches = cachesOf(said);
  const cachedInput = Math.min(caches.cached, input);
  const cacheWrite = Math.min(caches.written, input - cachedInput);
  const cacheWrite1h = Math.min(writtenForHour, cacheWrite);
  const tokens: UsageCounts = { input, cachedInput, output, reasoning: Math.min(reasoningOf(said), output) };
  if (cacheWrite > 0) tokens.cacheWrite = cacheWrite;
  if (cacheWrite1h > 0) tokens.cacheWrite1h = cacheWrite1h;
  if (said.inputAudio) tokens.inputAudio = Math.min(said.inputAudio, input);
  if (said.cachedInputAudio) tokens.cachedInputAudio = Math.min(said.cachedInputAudio, cachedInput);
  if (said.outputAudio) tokens.outputAudio = Math.min(said.outputAudio, output);
  return tokens;
}

/** The counts of a report, as they stand there. Absent: it has no such count. */
type SaidCounts = { [Name in Counted]?: number } & {
  /** The part of what was written to the cache that is kept for an hour. */
  writtenForHour?: number;
  /** What the completion is not below, where the report does not say all of it. */
  leastCompletion?: number;
};

/** What an upstream has reported, in the gateway's words. */
export interface TokenReport {
  /** What it does not say is 0. */
  readonly tokens: UsageCounts;
  /** Whether it counts the prompt. No prompt is without tokens: zero is no count. */
  readonly hasInput: boolean;
  /** Whether it counts the output, as nothing or as more. */
  readonly hasOutput: boolean;
}

/** What servers call the tier that has the usual price. */
const usual: ReadonlySet<string> = new Set(["default", "standard", "auto", "on_demand", "on-demand", "null", "none"]);

const plainName = /^[a-z][\w-]{0,31}$/;

/** The tier that served a response, such as `priority`; `undefined`: the usual one, or it is not said. */
export function readServiceTier(said: unknown): string | undefined {
  if (typeof said !== "string") return undefined;
  const tier = said.toLowerCase();
  return usual.has(tier) || !plainName.test(tier) ? undefined : tier;
}
