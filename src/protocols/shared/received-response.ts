import type { Buffer } from "node:buffer";
import { badGateway, type GatewayError } from "../../errors/gateway-error.js";
import { UpstreamStatusError } from "../../errors/upstream-fault.js";
import type { UsageCounts } from "../../prices/usage-counts.js";
import { runtime } from "../../runtime/this-runtime.js";
import { asBuffer } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import {
  editMembers,
  endOfValue,
  type JsonMember,
  type MemberEdits,
  type MemberWriter,
  membersOf,
  skipSpace,
  splice,
  writeEdited,
} from "../../wire/json-members.js";
import { JsonCheck } from "../../wire/json-syntax.js";
import { noSkips, type Skips, SkipTable } from "../../wire/skip-table.js";
import { type Steps, sliceBytes, slicesOf } from "../../wire/slices.js";
import { valueSteps } from "../../wire/value-steps.js";

/** Of an answer that is checked before it is read. */
export const mostDepth = 256;

/** Shorter ones are parsed in the time that it takes to leave anything out. */
export const outlinePays = 2048;

/** Stands in an outline for a long text. */
const leftOut = "\u0000\u2026";
const leftOutJson = JSON.stringify(leftOut);
const noGaps: readonly number[] = [];

/** Whether a text is made of one that an outline leaves out. */
export function isLeftOut(text: string | undefined): boolean {
  return text?.includes(leftOut) === true;
}

/** A whole response from an upstream. It is parsed on first access. */
export class ReceivedResponse {
  readonly bytes: Uint8Array;
  /** Where the texts begin that are left out of the JSON. */
  readonly gaps: readonly number[];
  /** Something was made of a text that is left out: all must be parsed. */
  isTooLittle = false;
  #text: string | undefined;
  #json: unknown;
  #isParsed = false;
  #check: JsonCheck | undefined;
  #skips: SkipTable | undefined;

  constructor(bytes: Uint8Array, gaps = noGaps) {
    this.bytes = bytes;
    this.gaps = gaps;
  }

  /** The bytes as text. */
  get text(): string {
    this.#text ??= asBuffer(this.bytes).toString("utf8");
    return this.#text;
  }

  /** The ends of long values, by their starts, once the response was checked. */
  get skips(): Skips {
    return this.#skips ?? noSkips;
  }

  /** Checks a long text in steps. */
  *check(): Steps<void> {
    if (this.#check === undefined && this.bytes.length > sliceBytes) yield* slicesOf(this.#newCheck());
  }

  /**
   * The same without its long texts, which are not parsed.
   * @returns `undefined` where it is not one JSON object as any reader takes it, or has too few long texts.
   */
  outline(): ReceivedResponse | undefined {
    if (this.bytes.length < outlinePays) return undefined;
    if (this.#check === undefined) this.#newCheck().run(this.bytes.length);
    if (this.#check?.fault !== undefined) return undefined;
    const source = asBuffer(this.bytes);
    const gaps: number[] = [];
    let text = "";
    let from = 0;
    const skips = this.#skips as SkipTable;
    for (let noted = 0; noted < skips.size; noted++) {
      const [start, end] = [skips.startOf(noted), skips.endOf(noted)];
      if (source[start] !== 0x22) continue;
      text += source.toString("utf8", from, start) + leftOutJson;
      gaps.push(start);
      from = end;
      if (text.length > sliceBytes) return undefined;
    }
    if (gaps.length === 0 || text.length + source.length - from > sliceBytes) return undefined;
    const outline = new ReceivedResponse(this.bytes, gaps);
    outline.#skips = this.#skips;
    outline.#json = JSON.parse(text + source.toString("utf8", from));
    outline.#isParsed = true;
    return outline;
  }

  /**
   * Parses a long text in steps.
   * @param anyJSON - whether also what is nested deeper than any answer, and the like; otherwise such a text counts as none.
   */
  *parse(anyJSON: boolean): Steps<void> {
    if (this.#isParsed || this.bytes.length <= sliceBytes) return;
    yield* this.check();
    const fault = this.#check?.fault;
    this.#isParsed = fault === undefined || fault.reason === "syntax" || !anyJSON;
    if (fault !== undefined) return;
    const { skips } = this;
    const start = skipSpace(this.bytes, 0);
    this.#json = yield* valueSteps(this.bytes, { start, end: endOfValue(this.bytes, start, skips) }, skips);
  }

  /** The parsed text; `undefined` when it is not JSON. */
  get json(): unknown {
    if (!this.#isParsed) {
      this.#isParsed = true;
      try {
        this.#json = JSON.parse(this.text);
      } catch {
        this.#json = undefined;
      }
    }
    return this.#json;
  }

  #newCheck(): JsonCheck {
    this.#skips = new SkipTable(this.bytes.length);
    this.#check = new JsonCheck(this.bytes, mostDepth, this.#skips);
    return this.#check;
  }
}

/** Longer responses are sent as bytes. */
const shortResponse = 16 * 1024;

/** The response, a JSON object, with some members changed. Everything else stays as it was. */
export function editResponse(answer: ReceivedResponse, edits: MemberEdits | ResponseEdits): Uint8Array | string {
  const { bytes, json } = answer;
  if (edits.size === 0) return bytes;
  if (answer.gaps.length > 0) return editOutlined(answer, mapOf(edits));
  const model = edits.size === 1 && isRecord(json) && json["model"] !== undefined ? edits.get("model") : undefined;
  if (typeof model !== "string") return editAmongMembers(answer, mapOf(edits));
  return replaceModel(answer, model) ?? replaceAmong(bytes, membersOf(bytes), model);
}

function mapOf(edits: MemberEdits | ResponseEdits): MemberEdits {
  return edits instanceof ResponseEdits ? edits.toMap() : edits;
}

/** What takes the place of a member must not be made of the outline of one. */
function editOutlined(answer: ReceivedResponse, edits: MemberEdits): Uint8Array {
  const { bytes, gaps, skips } = answer;
  const members = membersOf(bytes, 0, Number.POSITIVE_INFINITY, skips);
  for (const { name, start, end } of members) {
    const isReplaced = typeof edits.get(name) === "string";
    if (isReplaced && gaps.some((gap) => gap >= start && gap < end)) answer.isTooLittle = true;
  }
  const model = edits.size === 1 ? edits.get("model") : undefined;
  return typeof model === "string" ? replaceAmong(bytes, members, model) : editMembers(bytes, members, edits);
}

function editAmongMembers({ bytes, text }: ReceivedResponse, edits: MemberEdits): Uint8Array | string {
  const members = membersOf(bytes);
  if (bytes.length > shortResponse || !runtime.isAscii(bytes)) return editMembers(bytes, members, edits);
  const out = new TextWriter(text);
  writeEdited(out, asBuffer(bytes), members, edits);
  return out.text;
}

/** Gathers text of ASCII: in short responses, that is faster than bytes. */
class TextWriter implements MemberWriter {
  text = "";
  readonly #source: string;

  /** @param source - the bytes that are written from, as text. */
  constructor(source: string) {
    this.#source = source;
  }

  write(bytes: Uint8Array): void {
    this.text += asBuffer(bytes).toString();
  }

  writeFrom(_: Buffer, start: number, end: number): void {
    this.text += this.#source.slice(start, end);
  }

  writeText(text: string): void {
    this.text += text;
  }
}

/** Most responses need only a new model name. This finds it without a list of all members. */
function replaceModel(answer: ReceivedResponse, model: string): Uint8Array | string | undefined {
  const { bytes } = answer;
  // In latin1 each byte is one character, whatever it means. A string is faster to search than bytes.
  const searched = runtime.isAscii(bytes) ? answer.text : asBuffer(bytes).toString("latin1");
  const start = findModel(bytes, searched);
  if (start === undefined) return undefined;
  return spliceResponse(answer, start, endOfValue(bytes, start), model);
}

/** The response with other JSON in place of a value. */
export function spliceResponse(
  answer: ReceivedResponse,
  start: number,
  end: number,
  json: string,
): Uint8Array | string {
  const { bytes } = answer;
  if (bytes.length > shortResponse || !runtime.isAscii(bytes)) return splice(bytes, start, end, json);
  const { text } = answer;
  return text.slice(0, start) + json + text.slice(end);
}

/** The same as {@link replaceModel}, with a list of all members. */
function replaceAmong(bytes: Uint8Array, members: readonly JsonMember[], model: string): Uint8Array {
  const [member, another] = members.filter(({ name }) => name === "model");
  if (member !== undefined && another === undefined) return splice(bytes, member.start, member.end, model);
  return editMembers(bytes, members, new Map([["model", model]]));
}

const modelName = '"model"';
/**
 * The end of the name. Quotes are frequent, so a search for the end of the name is faster than one that begins with a
 * quote.
 */
const nameEnd = 'model"';
const colon = 0x3a;

/** The start of the value of `model`, if the text contains that name exactly once. */
function findModel(bytes: Uint8Array, text: string): number | undefined {
  const found = text.indexOf(modelName);
  if (found < 0) return undefined;
  const end = found + modelName.length;
  const separator = skipSpace(bytes, end);
  // A response always has its own `model`. The match could only be another one if there were two, or if the response's
  // own name contained escapes.
  if (bytes[separator] !== colon || text.includes(nameEnd, end) || text.includes("\\u")) return undefined;
  return skipSpace(bytes, separator + 1);
}

type Edit = string | Uint8Array | null;

/** New values of a response's members, by their names. Most responses get one alone, for which no map is made. */
export class ResponseEdits {
  #name = "";
  #edit: Edit | undefined;
  #all: MemberEdits | undefined;

  get size(): number {
    return this.#all?.size ?? (this.#edit === undefined ? 0 : 1);
  }

  get(name: string): Edit | undefined {
    if (this.#all !== undefined) return this.#all.get(name);
    return name === this.#name ? this.#edit : undefined;
  }

  set(name: string, edit: Edit): void {
    if (this.#edit === undefined) {
      this.#name = name;
      this.#edit = edit;
    } else {
      this.#all ??= new Map([[this.#name, this.#edit]]);
      this.#all.set(name, edit);
    }
  }

  /** In the order in which they were set. */
  toMap(): MemberEdits {
    return this.#all ?? new Map(this.#edit === undefined ? [] : [[this.#name, this.#edit]]);
  }
}

/** What an end means, in OpenAI's words. `error`: the server has given up, and what it sent is no response. */
type EndMeaning = "stop" | "tool_calls" | "length" | "content_filter" | "error";

/** What servers call the ends of their responses: in small letters, with `_`. Whatever stands nowhere here is a `stop`. */
const words: Readonly<Record<EndMeaning, readonly string[]>> = {
  stop: [
    "stop",
    "end_turn",
    "stop_sequence",
    "eos",
    "eos_token",
    "complete",
    "completed",
    "pause_turn",
    "compaction",
    "steered",
  ],
  tool_calls: ["tool_calls", "tool_call", "tool_use", "function_call"],
  length: [
    ...[
      "length",
      "max_tokens",
      "max_output_tokens",
      "max_length",
      "model_length",
      "token_limit",
      "error_limit",
      "max_messages",
    ],
    ...["model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded"],
  ],
  content_filter: [
    ...["content_filter", "content_filtered", "refusal", "safety", "sensitive", "guardrail_intervened", "error_toxic"],
    ...["recitation", "blocklist", "prohibited_content", "spii", "language", "model_armor"],
    ...["image_safety", "image_prohibited_content", "image_recitation"],
  ],
  error: [
    ...["error", "insufficient_system_resource", "network_error", "abort", "aborted", "cancelled", "timeout", "failed"],
    ...["malformed_function_call", "unexpected_tool_call", "malformed_tool_use", "malformed_model_output"],
    ...["malformed_response", "too_many_tool_calls", "missing_thought_signature", "server_error", "internal_error"],
  ],
};

const meanings: ReadonlyMap<string, EndMeaning> = new Map(
  Object.entries(words).flatMap(([meaning, names]) => names.map((name) => [name, meaning as EndMeaning] as const)),
);

/** @param reason - as a server of any API gives it. @returns `undefined` where it is not known. */
export function meaningOfEnd(reason: unknown): EndMeaning | undefined {
  if (typeof reason !== "string") return undefined;
  const known = meanings.get(reason);
  if (known !== undefined) return known;
  // Gemini's begin with what has found the fault, as in "function_call_filter: MALFORMED_FUNCTION_CALL".
  const [last = "", ...before] = reason
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_")
    .split(":_")
    .reverse();
  return meanings.get(last) ?? before.map((part) => meanings.get(part)).find((meaning) => meaning !== undefined);
}

/** Whether a choice has ended: some servers give an empty text, or `"null"`, until it has. */
export function isEnd(reason: unknown): reason is string {
  return typeof reason === "string" && reason !== "" && reason !== "null";
}

/**
 * @param used - what the server reports as used all the same.
 * @throws GatewayError for an end by which the server says that it has given up: another target may do it.
 */
export function requireNoFailure(reason: unknown, used?: UsageCounts): void {
  if (meaningOfEnd(reason) === "error") throw gaveUp(`its finish reason is '${reason}'`, used);
}

/** @param why - for the operator. */
export function gaveUp(why: string, used?: UsageCounts): GatewayError {
  const message = `The upstream gave up its answer: ${why}.`;
  return badGateway("The model did not answer. Try again.", { cause: new UpstreamStatusError(200, message, { used }) });
}
