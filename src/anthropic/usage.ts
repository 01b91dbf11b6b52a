import { largestCount, readTokenCount, type TokenCounts } from "../metering/token-counts.js";
import { isRecord } from "../wire/is-record.js";
import { unpricedUsage } from "./unpriced-usage.js";

/**
 * Reads the `usage` of a message (Anthropic reference, "Usage").
 * @returns `undefined` when it is no usage to charge by: absent, malformed, or zero throughout.
 */
export function readMessagesUsage(usage: unknown): TokenCounts | undefined {
  const tally = new UsageTally();
  tally.add(usage);
  return tally.counts;
}

/** What one model call has counted. */
interface Counts {
  /** Neither read from the cache nor put into it. */
  readonly fresh: number;
  readonly read: number;
  readonly written: number;
  /** The part of `written` that is kept for an hour. */
  readonly forHour: number;
  readonly output: number;
}

const nothing: Counts = { fresh: 0, read: 0, written: 0, forHour: 0, output: 0 };

/**
 * The usage of a message, which comes in several events of a stream. What stands in a later one replaces what an earlier
 * one said: a server that translates begins with an estimate. Zeros replace nothing, as some servers send them at the
 * beginning, or at the end. The output only grows.
 */
export class UsageTally {
  #own: Counts = nothing;
  /** Of all model calls that the message took together. */
  #iterations: Counts = nothing;
  #thought = 0;
  #countsOutput = false;
  #unpriced: string | undefined;

  add(usage: unknown): void {
    if (!isRecord(usage)) return;
    const { iterations, output_tokens_details: details, output_tokens: output } = usage;
    const own = countsOf(usage);
    this.#own = {
      fresh: own.fresh || this.#own.fresh,
      read: own.read || this.#own.read,
      written: own.written || this.#own.written,
      forHour: own.forHour || this.#own.forHour,
      output: Math.max(this.#own.output, own.output),
    };
    if (Array.isArray(iterations) && iterations.length > 0) this.#iterations = sumOf(iterations);
    this.#thought = Math.max(this.#thought, isRecord(details) ? count(details["thinking_tokens"]) : 0);
    this.#countsOutput ||= readTokenCount(output) !== undefined;
    this.#unpriced ??= unpricedUsage(usage);
  }

  /** Whether the output was counted, as nothing or as more. */
  get countsOutput(): boolean {
    return this.#countsOutput;
  }

  /** What was used beside tokens of the model, such as `web_search_requests`; `undefined`: nothing. */
  get unpriced(): string | undefined {
    return this.#unpriced;
  }

  /**
   * All that is billed: the counts of the message leave out what compactions and the like took, which stands among the
   * iterations alone. `undefined` while there is nothing to charge by.
   */
  get counts(): TokenCounts | undefined {
    const own = this.#own;
    const all = this.#iterations;
    const read = Math.max(own.read, all.read);
    const written = Math.max(own.written, all.written);
    const forHour = Math.min(Math.max(own.forHour, all.forHour), written);
    const input = Math.max(own.fresh, all.fresh) + read + written;
    const output = Math.max(own.output, all.output);
    if (input + output === 0) return undefined;
    return {
      input,
      cachedInput: read,
      ...(written === 0 ? undefined : { cacheWrite: written }),
      ...(forHour === 0 ? undefined : { cacheWrite1h: forHour }),
      output,
      reasoning: Math.min(this.#thought, output),
    };
  }
}

/** The `usage` object of a message that the gateway writes itself. */
export function toMessagesUsage(tokens: TokenCounts): Record<string, unknown> {
  const { input, cachedInput, cacheWrite = 0, cacheWrite1h = 0, output, reasoning } = tokens;
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    ...(cacheWrite1h === 0 ? undefined : { cache_creation: cacheCreation(cacheWrite, cacheWrite1h) }),
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
    ...(reasoning === 0 ? undefined : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function cacheCreation(cacheWrite: number, forHour: number): Record<string, number> {
  return { ephemeral_5m_input_tokens: cacheWrite - forHour, ephemeral_1h_input_tokens: forHour };
}

function sumOf(iterations: readonly unknown[]): Counts {
  let sum = nothing;
  for (const iteration of iterations) {
    if (!isRecord(iteration)) continue;
    const { fresh, read, written, forHour, output } = countsOf(iteration);
    sum = {
      fresh: capped(sum.fresh + fresh),
      read: capped(sum.read + read),
      written: capped(sum.written + written),
      forHour: capped(sum.forHour + forHour),
      output: capped(sum.output + output),
    };
  }
  return sum;
}

function countsOf(usage: Record<string, unknown>): Counts {
  const { cache_creation: creation } = usage;
  const byTime = isRecord(creation) ? creation : {};
  const all = Object.values(byTime).reduce<number>((sum, value) => sum + count(value), 0);
  const forMinutes = count(byTime["ephemeral_5m_input_tokens"]);
  const written = Math.max(count(usage["cache_creation_input_tokens"]), all);
  return {
    fresh: count(usage["input_tokens"]),
    read: count(usage["cache_read_input_tokens"]),
    written,
    // Where some of it is kept for longer than minutes, so is what is not said.
    forHour: all > forMinutes ? written - forMinutes : 0,
    output: count(usage["output_tokens"]),
  };
}

function capped(sum: number): number {
  return Math.min(sum, largestCount);
}

function count(value: unknown): number {
  return readTokenCount(value) ?? 0;
}
