import { Buffer, isAscii } from "node:buffer";
import { asBuffer } from "../../wire/as-buffer.js";
import { isRecord } from "../../wire/is-record.js";
import { shortInteger, skipSpace, splice } from "../../wire/json-members.js";
import { numberEnd } from "../../wire/json-number.js";
import { isSpace, stringEnd } from "../../wire/json-syntax.js";
import { type Words, wordsOf } from "../../wire/word-scan.js";
import { type ModelAnswer, type ReceivedAnswer, shortAnswer } from "../model-answer.js";
import { hasUsageTotals, readUsage } from "../usage.js";
import { type AnswerSlot, type AnswerSlots, findSlots, idPrefix } from "./answer-slots.js";

const quote = 0x22;

/** No more bytes of an answer are kept. */
const mostKept = 16 * 1024;

/** What stands before, between and behind slots. */
interface Layout {
  readonly slots: readonly AnswerSlot[];
  /** One more than there are slots. */
  readonly literals: readonly string[];
  /** Which literal holds the model's name, and where. */
  readonly modelLiteral: number;
  readonly modelOffset: number;
  /** The number of the id's slot. */
  readonly id: number;
}

/**
 * What whole chat completions of a model server have in common: all but their strings and numbers. An answer that differs
 * from the learned one in nothing else needs no parsing: what has to be changed in it is known.
 */
export class AnswerTemplate {
  /** With all slots. */
  readonly #all: Layout;
  /** With those slots alone that do vary; the others are compared along with what is around them. */
  #varying: Layout;
  /** The learned answer's, which gets the numbers of the one at hand. */
  readonly #usage: Record<string, unknown>;
  /** The model as the client named it. */
  readonly #model: string;
  /** The same as JSON text. */
  readonly #modelText: string;
  /** The length of the upstream's name for it, as JSON text. */
  readonly #modelLength: number;
  /** The upstream calls it so, too. */
  readonly #keepsModel: boolean;
  readonly #hasPrefix: boolean;
  /** Of the answer at hand: where its literals begin, and the numbers in its slots. */
  readonly #starts: Int32Array;
  readonly #numbers: Float64Array;

  private constructor(bytes: Buffer, found: AnswerSlots, json: PlainAnswer, model: string) {
    const { start, end } = found.model;
    this.#all = layoutOf(bytes, found);
    this.#varying = withoutSteady(this.#all);
    this.#usage = found.usage;
    this.#model = model;
    this.#keepsModel = json.model === model;
    this.#modelText = this.#keepsModel ? bytes.toString("utf8", start, end) : JSON.stringify(model);
    this.#modelLength = end - start;
    this.#hasPrefix = json.id.startsWith(idPrefix);
    this.#starts = new Int32Array(this.#all.literals.length);
    this.#numbers = new Float64Array(this.#all.slots.length);
  }

  /**
   * Makes a template of a chat completion in which nothing has to be changed but the model's name, and the id where that
   * lacks its prefix.
   * @param model - as the client named it.
   * @returns `undefined` when it is not a plain one: of one choice, with usage, and with text or none.
   */
  static learn({ bytes, json }: ReceivedAnswer, model: string): AnswerTemplate | undefined {
    if (!isPlain(json)) return undefined;
    const buffer = asBuffer(bytes);
    const found = findSlots(buffer);
    if (found === undefined || keptBytes(buffer, found) > mostKept) return undefined;
    const { id } = found;
    if (json.id.startsWith(idPrefix)) {
      // A prefix that is spelled with escapes is not found.
      if (buffer[id.start - 1] === quote) return undefined;
    } else if (id.start > found.model.start || !isTight(buffer)) {
      // More changes than one take the white space around the members away.
      return undefined;
    }
    return new AnswerTemplate(buffer, found, json, model);
  }

  /**
   * What the client gets for an answer that is like the learned one.
   * @param text - the bytes as latin1.
   * @param model - as the client named it.
   * @returns `undefined` for any other.
   */
  pass(bytes: Buffer, text: string, model: string): ModelAnswer | undefined {
    if (model !== this.#model) return undefined;
    const start = skipSpace(bytes, 0);
    let layout = this.#varying;
    if (!this.#matches(layout, bytes, text, start)) {
      layout = this.#all;
      if (!this.#matches(layout, bytes, text, start)) return undefined;
      this.#noteVarying(text);
    }
    const usage = this.#usage;
    const { slots } = layout;
    for (let index = 0; index < slots.length; index++) {
      const { holder, key } = slots[index] as AnswerSlot;
      if (holder !== undefined) holder[key] = this.#numbers[index];
    }
    const tokens = readUsage(usage);
    if (tokens === undefined || !hasUsageTotals(usage)) return undefined;
    const body = this.#edit(layout, bytes, text);
    return body === undefined ? undefined : { body, tokens, estimated: false };
  }

  #matches({ literals, slots }: Layout, bytes: Buffer, text: string, start: number): boolean {
    const starts = this.#starts;
    let words: Words | undefined;
    let position = start;
    for (let index = 0; index < slots.length; index++) {
      const literal = literals[index] as string;
      // `startsWith` goes character by character, and takes five times as long.
      if (text.slice(position, position + literal.length) !== literal) return false;
      starts[index] = position;
      position += literal.length;
      const { kind } = slots[index] as AnswerSlot;
      if (kind === "string") {
        words ??= wordsOf(bytes);
        position = stringEnd(bytes, position - 1, words) - 1;
      } else {
        const end = numberEnd(bytes, position);
        if (end < 0) return false;
        const value = kind === "integer" ? shortInteger(bytes, position, end) : Number(text.slice(position, end));
        if (value === undefined) return false;
        this.#numbers[index] = value;
        position = end;
      }
      if (position < 0) return false;
    }
    starts[slots.length] = position;
    return text.slice(position) === literals[slots.length];
  }

  /** After an answer that matches with all slots. */
  #noteVarying(text: string): void {
    const { slots, literals } = this.#all;
    slots.forEach((slot, index) => {
      const start = (this.#starts[index] as number) + (literals[index] as string).length;
      if (text.slice(start, this.#starts[index + 1]) !== slot.value) slot.varies = true;
    });
    this.#varying = withoutSteady(this.#all);
  }

  /** The answer that matched. */
  #edit(layout: Layout, bytes: Buffer, text: string): Uint8Array | string | undefined {
    const starts = this.#starts;
    let added = "";
    let idStart = 0;
    if (!this.#hasPrefix) {
      idStart = (starts[layout.id] as number) + (layout.literals[layout.id] as string).length;
      if (!text.startsWith(idPrefix, idStart)) {
        if (!simpleId.test(text.slice(idStart, starts[layout.id + 1]))) return undefined;
        added = idPrefix;
      }
    }
    if (added === "" && this.#keepsModel) return bytes;
    const modelStart = (starts[layout.modelLiteral] as number) + layout.modelOffset;
    const modelEnd = modelStart + this.#modelLength;
    const name = this.#modelText;
    if (bytes.length <= shortAnswer && isAscii(bytes)) {
      if (added === "") return text.slice(0, modelStart) + name + text.slice(modelEnd);
      const jsonStart = starts[0] as number;
      return text.slice(jsonStart, idStart) + added + text.slice(idStart, modelStart) + name + text.slice(modelEnd);
    }
    if (added === "") return splice(bytes, modelStart, modelEnd, name);
    return splice(splice(bytes, modelStart, modelEnd, name), idStart, idStart, added).subarray(starts[0]);
  }
}

/** An id that is written again as it was. */
const simpleId = /^[\w.:/+=-]+$/;

interface PlainAnswer extends Record<string, unknown> {
  id: string;
  model: string;
}

function isPlain(json: unknown): json is PlainAnswer {
  if (!isRecord(json) || !isRecord(json["usage"])) return false;
  if (typeof json["id"] !== "string" || typeof json["model"] !== "string") return false;
  const choices = json["choices"];
  if (!Array.isArray(choices) || choices.length !== 1) return false;
  const [choice] = choices;
  const message = isRecord(choice) ? choice["message"] : undefined;
  return isRecord(message) && (typeof message["content"] === "string" || message["content"] === null);
}

/** All but the values that vary from the beginning. */
function keptBytes(bytes: Buffer, { slots }: AnswerSlots): number {
  return slots.reduce((kept, { start, end, varies }) => (varies ? kept - (end - start) : kept), bytes.length);
}

/** There is no white space within the braces, next to them, or behind. */
function isTight(bytes: Uint8Array): boolean {
  const start = skipSpace(bytes, 0);
  return bytes[start + 1] === quote && bytes.at(-1) === 0x7d && !isSpace(bytes.at(-2));
}

function layoutOf(bytes: Buffer, { slots, model, id }: AnswerSlots): Layout {
  const literals: string[] = [];
  let from = skipSpace(bytes, 0);
  let modelLiteral = 0;
  let modelOffset = 0;
  for (const to of [...slots, { start: bytes.length, end: bytes.length }]) {
    if (model.start >= from) {
      modelLiteral = literals.length;
      modelOffset = model.start - from;
    }
    // Strings of their own, not parts of one.
    literals.push(bytes.toString("latin1", from, to.start));
    from = to.end;
  }
  return { slots, literals, modelLiteral, modelOffset, id: slots.indexOf(id) };
}

/** The same with the slots that do not vary as parts of the literals. */
function withoutSteady(all: Layout): Layout {
  const slots: AnswerSlot[] = [];
  const literals: string[] = [];
  let { modelLiteral, modelOffset, id } = all;
  let literal = "";
  all.literals.forEach((piece, index) => {
    if (index === all.modelLiteral) {
      modelLiteral = literals.length;
      modelOffset += literal.length;
    }
    literal += piece;
    const slot = all.slots[index];
    if (slot !== undefined && !slot.varies) {
      literal += slot.value;
      return;
    }
    if (index === all.id) id = slots.length;
    if (slot !== undefined) slots.push(slot);
    literals.push(flat(literal));
    literal = "";
  });
  return { slots, literals, modelLiteral, modelOffset, id };
}

/** A string in one piece: what is put together of others is so only once it is read. */
function flat(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
