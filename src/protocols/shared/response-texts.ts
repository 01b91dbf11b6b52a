import { createEventReader, type EventReader } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { isTextByType, kindOf, memberPath, ruleWithin, type TextRule } from "./prompt-layout.js";
import type { ResponseFormat, ResponseJson, ResponseText } from "./response-format.js";

/** A value of an answer, and where it stands. */
interface Place {
  readonly path: string;
  /** Of the object or list that holds it. */
  readonly rule: TextRule;
  /** The member that it is, or whose list it stands in. */
  readonly name: string;
  /** The `type` beside it. */
  readonly type: string | undefined;
}

/**
 * The texts in a part of an answer, in their order: every string but ids, URLs, files and the like. Names of tools are
 * texts, too. Probabilities repeat the texts token by token, and are left out.
 */
export function responseTexts(value: unknown, path: string): ResponseText[] {
  const texts: ResponseText[] = [];
  collect(value, { path, rule: "prompt", name: "", type: undefined }, texts);
  return texts;
}

function collect(value: unknown, place: Place, texts: ResponseText[]): void {
  if (typeof value === "string") {
    if (value !== "" && isText(place)) texts.push({ path: place.path, text: value });
    return;
  }
  if (typeof value !== "object" || value === null || place.name === "logprobs") return;
  const rule = ruleWithin(place.rule, place.name);
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      collect(element, { ...place, path: `${place.path}[${index}]`, rule }, texts);
    }
  } else if (isRecord(value)) {
    const type = typeof value["type"] === "string" ? value["type"] : undefined;
    for (const [name, member] of Object.entries(value)) {
      collect(member, { path: memberPath(place.path, name), rule, name, type }, texts);
    }
  }
}

function isText({ rule, name, type }: Place): boolean {
  const isNamed = rule === "prompt" && name === "name";
  const kind = kindOf(rule, name);
  return isNamed || kind === "text" || (kind === "file" && isTextByType(name, type));
}

/** Members of events that repeat a text as a whole. */
const wholeTexts = ["text", "refusal", "arguments", "input", "code"];

/**
 * The texts of a streamed response. Each comes as deltas, with its part, with its item, and with the response, and clients
 * read any of them. Where they differ, each is a text.
 */
export class StreamedItemTexts {
  readonly #found = new Map<string, string[]>();
  readonly #deltas = new Map<string, string>();

  read(event: ResponseJson): void {
    const { item, part, delta, output_index: index } = event;
    // Where a server leaves it out, clients that read deltas alone do not miss it.
    const path = Number.isInteger(index) ? `output[${index}]` : "output";
    const place = path + partOf(event);
    this.add([...responseTexts(item, path), ...responseTexts(part, place)]);
    for (const name of wholeTexts) {
      if (typeof event[name] === "string") this.add([{ path: `${place}.${name}`, text: event[name] }]);
    }
    if (isRecord(delta)) this.add(responseTexts(delta, place));
    if (typeof delta !== "string") return;
    const grows = `${place}.${memberOf(String(event["type"]))}`;
    this.#deltas.set(grows, (this.#deltas.get(grows) ?? "") + delta);
  }

  add(texts: readonly ResponseText[]): void {
    for (const { path, text } of texts) {
      const known = this.#found.get(path);
      if (known === undefined) this.#found.set(path, [text]);
      else if (!known.includes(text)) known.push(text);
    }
  }

  texts(): ResponseText[] {
    this.add([...this.#deltas].map(([path, text]) => ({ path, text })));
    return [...this.#found].flatMap(([path, texts]) => texts.flatMap((text) => (text === "" ? [] : { path, text })));
  }
}

function partOf({ content_index: content, summary_index: summary }: ResponseJson): string {
  if (Number.isInteger(summary)) return `.summary[${summary}]`;
  return Number.isInteger(content) ? `.content[${content}]` : "";
}

/** The member that deltas of this type make up. */
function memberOf(type: string): string {
  if (type.includes("refusal")) return "refusal";
  if (type.includes("arguments")) return "arguments";
  if (type.includes("tool_call_input")) return "input";
  return type.includes("code") ? "code" : "text";
}

/** An event that is larger is passed over, with all that comes after it. */
const mostEventCharacters = 1_000_000;

/** The beginning of what a model writes in a stream. Nothing of its events stays in memory. */
export class StreamedText {
  readonly #format: ResponseFormat;
  readonly #most: number;
  readonly #events: EventReader = createEventReader(mostEventCharacters);
  readonly #texts = new Map<string, string>();
  #length = 0;
  #isOver = false;

  /** @param most - characters of the beginning. */
  constructor(format: ResponseFormat, most: number) {
    this.#format = format;
    this.#most = most;
  }

  get texts(): ResponseText[] {
    return [...this.#texts].map(([path, text]) => ({ path, text }));
  }

  /** @param piece - the next bytes, however they are split. */
  add(piece: Uint8Array): void {
    if (this.#isOver) return;
    try {
      for (const { data } of this.#events.read(piece)) this.#read(data);
    } catch {
      this.#isOver = true;
    }
    if (this.#length >= this.#most) this.#isOver = true;
  }

  #read(data: string): void {
    if (this.#length >= this.#most || data === "" || data === "[DONE]") return;
    const event: unknown = JSON.parse(data);
    if (!isRecord(event)) return;
    for (const { path, text } of this.#format.addedBy(event)) this.#append(path, text);
  }

  #append(path: string, text: string): void {
    const added = text.slice(0, this.#most - this.#length);
    if (added === "") return;
    this.#length += added.length;
    this.#texts.set(path, (this.#texts.get(path) ?? "") + added);
  }
}
