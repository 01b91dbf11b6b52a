import { readTokenCount, type TokenCounts } from "../metering/token-counts.js";
import { isRecord } from "../wire/is-record.js";

/**
 * Reads the `usage` of a message (Anthropic reference, "Usage").
 * @returns `undefined` when it is no usage to charge by: absent, malformed, or zero throughout.
 */
export function readMessagesUsage(usage: unknown): TokenCounts | undefined {
  const tally = new UsageTally();
  tally.add(usage);
  return tally.counts;
}

/**
 * The usage of a stream, which comes in several events. What stands in a later one replaces what an earlier one said: a
 * server that translates begins with an estimate. Zeros replace nothing, as some servers send them at the beginning, or at
 * the end. The output only grows.
 */
export class UsageTally {
  #input = 0;
  #read = 0;
  #written = 0;
  #output = 0;
  #thought = 0;

  add(usage: unknown): void {
    if (!isRecord(usage)) return;
    const creation = usage["cache_creation"];
    const details = usage["output_tokens_details"];
    this.#input = count(usage["input_tokens"]) || this.#input;
    this.#read = count(usage["cache_read_input_tokens"]) || this.#read;
    const written = Math.max(count(usage["cache_creation_input_tokens"]), isRecord(creation) ? sumOf(creation) : 0);
    this.#written = written || this.#written;
    this.#output = Math.max(this.#output, count(usage["output_tokens"]));
    this.#thought = Math.max(this.#thought, isRecord(details) ? count(details["thinking_tokens"]) : 0);
  }

  /** `undefined` while there is nothing to charge by. */
  get counts(): TokenCounts | undefined {
    const input = this.#input + this.#read + this.#written;
    if (input + this.#output === 0) return undefined;
    return {
      input,
      cachedInput: this.#read,
      ...(this.#written === 0 ? undefined : { cacheWrite: this.#written }),
      output: this.#output,
      reasoning: Math.min(this.#thought, this.#output),
    };
  }
}

/** The `usage` object of a message that the gateway writes itself. */
export function toMessagesUsage(tokens: TokenCounts): Record<string, unknown> {
  const { input, cachedInput, cacheWrite = 0, output, reasoning } = tokens;
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
    ...(reasoning === 0 ? undefined : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

/** By how long they are kept. */
function sumOf(creation: Record<string, unknown>): number {
  return Object.values(creation).reduce<number>((sum, value) => sum + count(value), 0);
}

function count(value: unknown): number {
  return readTokenCount(value) ?? 0;
}
