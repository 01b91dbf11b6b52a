import { Buffer } from "node:buffer";
import type { ModelResponse } from "../../prices/progress.js";
import { largestCount, type UsageCounts } from "../../prices/usage-counts.js";
import { asBuffer } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { absent, endOfValue, shortInteger, skipSpace, skipString, startsWith } from "../../wire/json-members.js";
import { findJsonFault } from "../../wire/json-syntax.js";
import type { AttemptContext } from "../shared/exchange.js";
import { isEnd, meaningOfEnd, mostDepth, type ReceivedResponse, spliceResponse } from "../shared/received-response.js";
import { hasUsageTotals, readUsage, visibleUsage } from "../shared/usage-object.js";
import { unpricedUsage } from "../shared/usage-report.js";
import { readServiceTier } from "../shared/usage-tally.js";

const [quote, comma, backslash, openBracket, closeBracket, openBrace, letterN] = [
  0x22, 0x2c, 0x5c, 0x5b, 0x5d, 0x7b, 0x6e,
];

/** What is looked for: at each level, in the order of {@link CompletionSearch.starts}. */
const names = [
  ["id", "object", "created", "model", "choices", "usage", "error", "service_tier"],
  ["index", "message", "finish_reason", "error", "usage"],
  ["role", "content", "tool_calls", "usage", "function_call"],
  ["prompt_tokens", "completion_tokens", "total_tokens"],
] as const;
const [id, object, created, model, choices, usage, error, tier] = [0, 1, 2, 3, 4, 5, 6, 7];
const [index, message, finish, ownError, ownUsage] = [8, 9, 10, 11, 12];
const [role, content, toolCalls, innerUsage, call] = [13, 14, 15, 16, 17];
const [prompt, completion, total] = [18, 19, 20];
const [inRoot, inChoice, inMessage, inUsage] = [0, 1, 2, 3];

/** The place of a name with escapes: a reader may take it for one of these. */
const unclear = -2;

const completionType = Buffer.from('"chat.completion"');
const assistant = Buffer.from('"assistant"');
const idPrefix = Buffer.from('"chatcmpl-');

/** Finds the members of a completion that has one choice, in one pass over its bytes. Builds no values. */
class CompletionSearch {
  readonly starts = new Int32Array(names.flat().length);
  readonly ends = new Int32Array(names.flat().length);
  readonly #names = placesOfNames();
  #bytes: Uint8Array = Buffer.alloc(0);
  /** Whether the usage has something beside the three totals. */
  hasDetails = false;

  /**
   * @param bytes - valid JSON, an object.
   * @returns whether no member is there twice, and none has a name or a value that has to be parsed.
   */
  run(bytes: Uint8Array): boolean {
    this.#bytes = bytes;
    this.starts.fill(absent);
    this.hasDetails = false;
    return this.#object(inRoot, skipSpace(bytes, 0)) !== absent;
  }

  /** @returns the offset behind the object, or {@link absent}. */
  #object(level: number, start: number): number {
    const bytes = this.#bytes;
    let at = skipSpace(bytes, start + 1);
    while (bytes[at] === quote) {
      const nameEnd = skipString(bytes, at);
      const value = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
      const place = this.#placeOf(level, at + 1, nameEnd - 1);
      if (place === unclear || (place !== absent && this.starts[place] !== absent)) return absent;
      const end = this.#endOf(place, value);
      if (end === absent) return absent;
      if (place !== absent) {
        this.starts[place] = value;
        this.ends[place] = end;
      } else if (level === inUsage && bytes[value] !== letterN) this.hasDetails = true;
      at = skipSpace(bytes, end);
      if (bytes[at] !== comma) break;
      at = skipSpace(bytes, at + 1);
    }
    return at + 1;
  }

  /** The offset behind a value, which is searched where it holds more; {@link absent}: it is not plain. */
  #endOf(place: number, value: number): number {
    const bytes = this.#bytes;
    if (place === message) return bytes[value] === openBrace ? this.#object(inMessage, value) : absent;
    if (place === usage) return bytes[value] === openBrace ? this.#object(inUsage, value) : absent;
    if (place !== choices) return endOfValue(bytes, value);
    const first = skipSpace(bytes, value + 1);
    if (bytes[value] !== openBracket || bytes[first] !== openBrace) return absent;
    const end = this.#object(inChoice, first);
    if (end === absent) return absent;
    const close = skipSpace(bytes, end);
    return bytes[close] === closeBracket ? close + 1 : absent;
  }

  #placeOf(level: number, start: number, end: number): number {
    const bytes = this.#bytes;
    const likely = this.#names[level]?.[end - start];
    if (likely !== undefined) {
      for (const { name, place } of likely) if (startsWith(bytes, start, name)) return place;
    }
    for (let at = start; at < end; at++) if (bytes[at] === backslash) return unclear;
    return absent;
  }
}

/** By level, and by the length of the name. */
function placesOfNames(): { name: Buffer; place: number }[][][] {
  let place = 0;
  return names.map((ofLevel) => {
    const byLength: { name: Buffer; place: number }[][] = [];
    for (const name of ofLevel) {
      byLength[name.length] ??= [];
      byLength[name.length]?.push({ name: Buffer.from(name), place: place++ });
    }
    return byLength;
  });
}

// Shared by all responses: what is found is read before the next search begins.
const search = new CompletionSearch();

/**
 * The client's version of a short completion that needs no repair, which is searched and not parsed.
 * @returns `undefined` for any other: it has to be parsed.
 */
export function plainCompletion(received: ReceivedResponse, context: AttemptContext): ModelResponse | undefined {
  const { bytes } = received;
  if (findJsonFault(bytes, mostDepth) !== undefined || !search.run(bytes) || !needsNoRepair(bytes)) return undefined;
  const hasDetails = search.hasDetails || context.dialect?.hiddenUsage !== undefined;
  const tokens = hasDetails ? detailedTokens(bytes, context) : totalTokens(bytes);
  const responseId = textAt(bytes, id);
  const finishReason = textAt(bytes, finish);
  const named = textAt(bytes, model);
  const isPlain = tokens !== undefined && responseId !== undefined && named !== undefined;
  if (!isPlain || !isEnd(finishReason) || meaningOfEnd(finishReason) === "error") return undefined;
  return {
    body:
      named === context.model
        ? bytes
        : spliceResponse(received, startOf(model), endOf(model), JSON.stringify(context.model)),
    tokens,
    estimated: false,
    responseId,
    finishReason: shortInteger(bytes, startOf(index), endOf(index)) === 0 ? finishReason : undefined,
  };
}

function startOf(place: number): number {
  return search.starts[place] as number;
}

function endOf(place: number): number {
  return search.ends[place] as number;
}

/** Of a usage with nothing but its totals. `undefined`: they have to be looked at more closely. */
function totalTokens(bytes: Uint8Array): UsageCounts | undefined {
  const input = countAt(bytes, prompt);
  const output = countAt(bytes, completion);
  const inAll = countAt(bytes, total);
  // A total that has more says that the client has to get other counts.
  if (!input || !output || inAll === undefined || inAll > input + output) return undefined;
  return { input, cachedInput: 0, output, reasoning: 0 };
}

function detailedTokens(bytes: Uint8Array, { dialect }: AttemptContext): UsageCounts | undefined {
  const reported: unknown = JSON.parse(asBuffer(bytes).toString("utf8", startOf(usage), endOf(usage)));
  if (visibleUsage(reported, dialect) !== reported || !isRecord(reported)) return undefined;
  const tokens = unpricedUsage(reported) === undefined ? readUsage(reported) : undefined;
  const isAsCharged = tokens !== undefined && tokens.output > 0 && hasUsageTotals(reported, tokens);
  return isAsCharged ? tokens : undefined;
}

/** Another tier than the usual one has a price of its own. */
function isUsualTier(bytes: Uint8Array): boolean {
  return startOf(tier) === absent || readServiceTier(textAt(bytes, tier)) === undefined;
}

function countAt(bytes: Uint8Array, place: number): number | undefined {
  const count = startOf(place) === absent ? undefined : shortInteger(bytes, startOf(place), endOf(place));
  return count !== undefined && count <= largestCount ? count : undefined;
}

/** Whether the client would get all but the name of the model as it is. */
function needsNoRepair(bytes: Uint8Array): boolean {
  const said = bytes[startOf(content)];
  return (
    startOf(error) === absent &&
    startOf(ownError) === absent &&
    startOf(ownUsage) === absent &&
    startOf(innerUsage) === absent &&
    startOf(content) !== absent &&
    (said === quote || said === letterN) &&
    !hasToolCalls(bytes) &&
    (startOf(call) === absent || bytes[startOf(call)] === letterN) &&
    isUsualTier(bytes) &&
    isText(bytes, object, completionType) &&
    isText(bytes, role, assistant) &&
    startsWith(bytes, startOf(id), idPrefix) &&
    isShortInteger(bytes, created) &&
    isShortInteger(bytes, index) &&
    startOf(usage) !== absent
  );
}

/** Servers leave things out of them. */
function hasToolCalls(bytes: Uint8Array): boolean {
  const start = startOf(toolCalls);
  return start !== absent && bytes[start] === openBracket && bytes[skipSpace(bytes, start + 1)] !== closeBracket;
}

function isText(bytes: Uint8Array, place: number, text: Buffer): boolean {
  const start = startOf(place);
  return start !== absent && endOf(place) - start === text.length && startsWith(bytes, start, text);
}

function isShortInteger(bytes: Uint8Array, place: number): boolean {
  return startOf(place) !== absent && shortInteger(bytes, startOf(place), endOf(place)) !== undefined;
}

/** The text of a string of plain ASCII. `undefined` for any other value. */
function textAt(bytes: Uint8Array, place: number): string | undefined {
  const start = startOf(place);
  const end = endOf(place);
  if (start === absent || bytes[start] !== quote) return undefined;
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] as number;
    if (byte >= 0x80 || byte === backslash) return undefined;
  }
  return asBuffer(bytes).toString("latin1", start + 1, end - 1);
}
