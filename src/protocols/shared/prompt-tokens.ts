import { Buffer } from "node:buffer";
import { mostRead, RememberedCounts, sampledTokens, textTokens } from "../../tokens/text-tokens.js";
import { mostTokens, type ResolvedTokenBounds, type Tokenizer } from "../../tokens/tokenizer.js";
import { asBuffer } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { elementsOf, type JsonMember, memberOf, membersOf, skipString, valueAt } from "../../wire/json-members.js";
import { audioMedia } from "./media-kind.js";
import { mediaTokens } from "./media-tokens.js";
import { type Media, messageMedia, textsBetween, unreadValues, type WithMessages } from "./message-media.js";
import type { Span } from "./message-outline.js";

const [quote, comma, colon, openBracket, openBrace, closeBrace] = [0x22, 0x2c, 0x3a, 0x5b, 0x7b, 0x7d];
const letterE = 0x65;

/** Tokens that servers add to explain tools to the model. The largest known number is Anthropic's 346. */
export const toolsPreamble = 350;

/** Tokens by which a translation explains a tool that takes plain text. */
export const textFunctionTokens = 160;

/** Tokens that chat templates add after the messages, to start the response. */
const answerPreamble = 4;

/** The model's limits on a prompt. */
export interface PromptLimits {
  /** The tokens that a prompt can have, as the catalog says. What nothing is known of is taken to fill it. */
  readonly contextLength: number;
  readonly tokenizer: Tokenizer | undefined;
  readonly tokenBounds: ResolvedTokenBounds;
  /** Whether requests of chat completions and Responses may be translated for a server of Messages. Default: `false`. */
  readonly translatesToMessages?: boolean;
}

/** Members of a chat completion request that are not part of the prompt. */
const besidePrompt = new Set([
  "model",
  "stop",
  "stream_options",
  "modalities",
  "logit_bias",
  "service_tier",
  "metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
]);

/** The parts of a request that a model may read. */
interface Prompt extends WithMessages {
  /** The member that contains the messages, and thus the media. */
  readonly member: string;
  readonly media: readonly Media[];
  /** Values within it that are no text, in their order. */
  readonly unread: readonly Span[];
  /** Values that chat templates write again as JSON, with spaces or one value a line. */
  readonly rewritten: readonly Span[];
  /** Members that contain text or JSON but are not part of the prompt. The model may read every other text. */
  readonly beside: ReadonlySet<string>;
  /** Tokens that come from no text of the request. */
  readonly added: number;
}

/**
 * The most tokens that the prompt of a chat can have, be it more than the model's context. Images, audio and files count at their bounds. Everything else
 * that a model may read counts as text. The names and punctuation of the JSON make up for what templates add around
 * messages.
 *
 * @param media - the parts of the messages that are no text, in their order.
 */
export function promptTokens(
  request: WithMessages,
  limits: PromptLimits,
  media: readonly Media[] = messageMedia(request),
): PromptCount {
  const { body, skips, members } = request;
  return mostPromptTokens(
    {
      body,
      skips,
      members,
      member: "messages",
      media,
      unread: media.length === 0 ? none : unreadValues(media),
      rewritten: hasRewritten(members) ? members.filter(({ name }) => rewritten.has(name)) : none,
      beside: besidePrompt,
      added:
        (hasTools(request) ? toolsPreamble : 0) +
        (limits.translatesToMessages === true ? customTools(request) * textFunctionTokens : 0) +
        jsonInstructionTokens(body, memberOf(members, "response_format"), limits.translatesToMessages === true),
    },
    limits,
  );
}

/** The same for any request that a model gets as a chat. */
export function mostPromptTokens(prompt: Prompt, limits: PromptLimits): PromptCount {
  const { contextLength, tokenizer, tokenBounds } = limits;
  let others = answerPreamble + prompt.added;
  let least = 0;
  let audio = 0;
  for (const { start, end } of prompt.rewritten) others += rewritingTokens(prompt.body, start, end);
  for (const item of prompt.media) {
    const most = mediaTokens(prompt.body, item, tokenBounds);
    if (Number.isFinite(most)) others += most;
    else least = contextLength;
    // What nobody knows the kind of may be audio.
    if (item.kind === audioMedia || !Number.isFinite(most)) audio += Math.min(most, contextLength);
  }
  // Of the host's own tokenizer nothing is known.
  const parts = { others, least, audio, bytes: textBytes(prompt), isBounded: tokenizer === undefined };
  return new PromptCount(parts, () => {
    const texts = promptTexts(prompt);
    const counted = tokenizer && countedTexts(texts, tokenizer, contextLength - others);
    return counted ?? boundOfTexts(texts);
  });
}

/** Of all gateways in the thread: a count follows from the text alone, and the memory is spent once. */
const counts = new RememberedCounts(2 ** 21);

const countJson = (text: Uint8Array): number => textTokens(text, true);

/** Counts each message by itself: most messages of a conversation were counted before. */
function countText(text: Uint8Array): number {
  const { length } = text;
  const bytes = asBuffer(text);
  let tokens = 0;
  for (let start = 0; start < length; ) {
    const found = bytes.indexOf(messageBorder, start);
    const end = found < 0 ? length : found + 1;
    tokens += counts.count(bytes.subarray(start, end), countJson);
    start = end;
  }
  return tokens;
}

/** The border between two messages. Inside a text it does no harm. */
const messageBorder = Buffer.from("},{");

/** Members that templates write again. */
const rewritten = new Set(["tools", "functions", "response_format", "output_config"]);

const none: readonly never[] = [];

function hasRewritten(members: readonly JsonMember[]): boolean {
  for (const { name } of members) if (rewritten.has(name)) return true;
  return false;
}

/** A line break and the space before a value, or the space after a colon. */
const tokensPerMark = 2;
/** Python writes `1e15` as `1000000000000000.0`. It never needs more than 24 characters for a double. */
const longestNumber = 24;

/** The most tokens that JSON can gain by being written again. */
function rewritingTokens(body: Uint8Array, start: number, end: number): number {
  let tokens = 0;
  for (let at = start; at < end; at++) {
    const byte = body[at] as number;
    if (byte === quote) at = skipString(body, at) - 1;
    else if (isStructural(byte)) tokens += tokensPerMark;
    // Other than strings and names, only `true`, `false` and numbers with an exponent contain an `e`.
    else if ((byte | 0x20) === letterE && isDigit(body[at - 1] as number)) tokens += longestNumber;
  }
  return tokens;
}

function isStructural(byte: number): boolean {
  return byte === comma || byte === colon || (byte | 0x20) === openBrace || (byte | 0x20) === closeBrace;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function promptTexts(prompt: Prompt): Uint8Array[] {
  const { body, members, unread, member } = prompt;
  const texts: Uint8Array[] = [];
  for (const each of members) {
    if (!isRead(prompt, each)) continue;
    const { name, start, end } = each;
    if (name === member) texts.push(...textsBetween(body.subarray(0, end), [{ values: unread }], start));
    else texts.push(body.subarray(start, end));
  }
  return texts;
}

/** The length of what {@link promptTexts} returns, of which nothing is made for it. */
function textBytes(prompt: Prompt): number {
  let bytes = 0;
  for (const each of prompt.members) {
    if (!isRead(prompt, each)) continue;
    let from = each.start;
    if (each.name === prompt.member) {
      for (const { start, end } of prompt.unread) {
        bytes += Math.max(0, start - from);
        from = end;
      }
    }
    bytes += each.end - from;
  }
  return bytes;
}

/** Whether the member's value is a text, or holds some, and is part of the prompt. */
function isRead({ body, member, beside }: Prompt, { name, start }: JsonMember): boolean {
  const first = body[start];
  if (first !== quote && first !== openBracket && first !== openBrace) return false;
  return name === member || !beside.has(name);
}

/** More tools than these are taken to be custom ones. */
const mostTools = 2048;

/** The tools that a translation explains to a model. */
function customTools({ body, members, skips }: WithMessages): number {
  const tools = memberOf(members, "tools");
  if (tools === undefined || body[tools.start] !== openBracket) return 0;
  const starts = elementsOf(body, tools.start, skips, mostTools);
  return starts.filter((start) => {
    const type = body[start] === openBrace ? memberOf(membersOf(body, start, mostTools, skips), "type") : undefined;
    return type !== undefined && valueAt(body, type) === "custom";
  }).length;
}

function hasTools({ members }: WithMessages): boolean {
  return memberOf(members, "tools") !== undefined || memberOf(members, "functions") !== undefined;
}

function boundOfTexts(texts: readonly Uint8Array[]): number {
  const long = texts.filter(({ length }) => length > mostRead);
  let tokens = sampledTokens(long, true);
  for (const text of texts) if (text.length <= mostRead) tokens += countText(text);
  return tokens;
}

/** @returns `undefined` for more than `most` tokens. */
function countedTexts(texts: readonly Uint8Array[], tokenizer: Tokenizer, most: number): number | undefined {
  if (most <= 0) return undefined;
  const text = texts.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()).join("");
  return mostTokens(text, tokenizer, most);
}

/** More tokens than any text has for each of its bytes: no character takes more than two for a byte of it. */
const mostTokensPerByte = 2;

/** Shorter texts are counted in no time, in bytes. */
const shortest = 256;

/** What a prompt consists of. */
interface PromptParts {
  /** The tokens of all that is no text. */
  readonly others: number;
  /** No fewer count at all: a part of the prompt has no bound of its own. 0: all parts have one. */
  readonly least: number;
  /** Those of `others` that stand for audio, or are as many as there may be. */
  readonly audio: number;
  /** The length of its texts. */
  readonly bytes: number;
  /** Whether the texts have at most two tokens for each byte, by the way in which they are counted. */
  readonly isBounded: boolean;
}

/** The most tokens of a prompt. Its texts are counted when somebody asks for them. */
export class PromptCount {
  readonly #parts: PromptParts;
  readonly #countTexts: () => number;
  #tokens: number | undefined;

  constructor(parts: PromptParts, countTexts: () => number) {
    this.#parts = parts;
    this.#countTexts = countTexts;
  }

  get tokens(): number {
    const { others, least } = this.#parts;
    this.#tokens ??= Math.max(Math.ceil(others + this.#countTexts()), least);
    return this.#tokens;
  }

  /** The most of the tokens that stand for audio. */
  get audio(): number {
    return this.#parts.audio;
  }

  /**
   * What the tokens do not exceed, by the bytes of the texts: several times as many, and known at once. `undefined`: only the
   * count says, or it takes no time either.
   */
  get bound(): number | undefined {
    const { others, least, bytes, isBounded } = this.#parts;
    if (!isBounded || least > 0) return undefined;
    return bytes < shortest ? undefined : Math.ceil(others) + bytes * mostTokensPerByte;
  }
}

const plain = "Answer with one JSON object and nothing else: no text before or after it, no code fence.";

/**
 * What a model is told whose server has no JSON mode, or none for this format. It stands behind the client's own
 * instructions.
 * @param schema - of the object; anything but an object is none.
 */
export function jsonInstruction(schema?: unknown): string {
  return isRecord(schema) ? `${plain} It must match this JSON schema:\n${JSON.stringify(schema)}` : plain;
}

/** More than the words of it, and what templates put around a text. */
const plainTokens = 64;

/**
 * The most tokens by which {@link jsonInstruction} makes a prompt longer.
 * @param format - the value that asks for JSON.
 * @param repeatsSchema - whether some target may be told the schema beside getting it.
 */
export function jsonInstructionTokens(body: Uint8Array, format: Span | undefined, repeatsSchema: boolean): number {
  if (format === undefined || body[format.start] !== 0x7b) return 0;
  return plainTokens + (repeatsSchema ? textTokens(body.subarray(format.start, format.end), true) : 0);
}
