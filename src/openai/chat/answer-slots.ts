import type { Buffer } from "node:buffer";
import { elementsOf, endOfValue, type JsonMember, memberOf, membersOf, skipSpace } from "../../wire/json-members.js";

/** Answers of more values than that, those with log probabilities above all, are hardly ever alike. */
const mostSlots = 64;

const deepest = 16;

/** Longer strings are the model's words: they are not kept. */
const longestKept = 64;

export const idPrefix = "chatcmpl-";

const simpleInteger = /^(0|[1-9]\d{0,14})$/;

/** A number, or the inside of a string, where answers that are alike may differ. */
export interface AnswerSlot {
  /**
   * Integers are those that were written with up to fifteen digits and nothing else, and must be again; any other number
   * can become any number.
   */
  readonly kind: "string" | "integer" | "number";
  /** Where it was in the answer that was learned. */
  readonly start: number;
  readonly end: number;
  /** What it was there; empty where that is not kept. */
  readonly value: string;
  /** It has been otherwise, too, or is not kept. */
  varies: boolean;
  /** For a number in the usage: whose member it is, and which one. */
  readonly holder: Record<string, unknown> | undefined;
  readonly key: string;
}

export interface AnswerSlots {
  readonly slots: readonly AnswerSlot[];
  /** The usage, as far as it is records and numbers. Slots write to it. */
  readonly usage: Record<string, unknown>;
  readonly model: JsonMember;
  /** What follows the prefix in the id, or all of an id without one. */
  readonly id: AnswerSlot;
}

/**
 * Finds all strings and numbers of an answer but those that decide what is to be done with it: the values of `object`,
 * `role` and `model`, wherever they are.
 * @param bytes - valid JSON.
 * @returns `undefined` when names come twice or are not to be written to, or there is too much of anything.
 */
export function findSlots(bytes: Buffer): AnswerSlots | undefined {
  const start = skipSpace(bytes, 0);
  const members = membersOf(bytes, start);
  const model = memberOf(members, "model");
  const id = memberOf(members, "id");
  if (model === undefined || id === undefined) return undefined;
  const finder = new SlotFinder(bytes, id.start);
  if (!finder.addMembers(members, undefined, 0)) return undefined;
  return finder.id && { slots: finder.slots, usage: finder.usage, model, id: finder.id };
}

class SlotFinder {
  readonly slots: AnswerSlot[] = [];
  readonly usage: Record<string, unknown> = {};
  id: AnswerSlot | undefined;
  readonly #bytes: Buffer;
  readonly #idStart: number;

  constructor(bytes: Buffer, idStart: number) {
    this.#bytes = bytes;
    this.#idStart = idStart;
  }

  /**
   * @param holder - gets the object's numbers, where they matter.
   * @returns whether all of it can be in a template.
   */
  addMembers(members: readonly JsonMember[], holder: Record<string, unknown> | undefined, depth: number): boolean {
    const names = new Set(members.map(({ name }) => name));
    if (depth > deepest || names.size < members.length || names.has("__proto__")) return false;
    return members.every(({ name, start }) => this.#add(start, holder, name, depth));
  }

  #add(start: number, holder: Record<string, unknown> | undefined, key: string, depth: number): boolean {
    switch (this.#bytes[start]) {
      case 0x7b:
        return this.addMembers(membersOf(this.#bytes, start), this.#holderOf(holder, key, depth), depth + 1);
      case 0x5b:
        if (depth === deepest) return false;
        return elementsOf(this.#bytes, start).every((element) => this.#add(element, undefined, "", depth + 1));
      case 0x22:
        return isDecisive(key) || this.#addString(start, key);
      case 0x74:
      case 0x66:
      case 0x6e:
        return true;
      default:
        return this.#addNumber(start, holder, key);
    }
  }

  #holderOf(outer: Record<string, unknown> | undefined, key: string, depth: number): AnswerSlot["holder"] {
    if (outer === undefined) return depth === 0 && key === "usage" ? this.usage : undefined;
    const holder = {};
    outer[key] = holder;
    return holder;
  }

  #addString(start: number, key: string): boolean {
    const end = endOfValue(this.#bytes, start) - 1;
    const isId = start === this.#idStart;
    const from = isId && this.#bytes.toString("latin1", start + 1, end).startsWith(idPrefix) ? idPrefix.length : 0;
    const varies = isId || end - start > longestKept;
    const slot = this.#slot("string", start + 1 + from, end, varies, undefined, key);
    if (isId) this.id = slot;
    return this.slots.push(slot) <= mostSlots;
  }

  #addNumber(start: number, holder: Record<string, unknown> | undefined, key: string): boolean {
    const end = endOfValue(this.#bytes, start);
    const text = this.#bytes.toString("latin1", start, end);
    const isInteger = simpleInteger.test(text);
    // These must be integers however they are written.
    if (!isInteger && (key === "created" || key === "index")) return false;
    if (holder !== undefined) holder[key] = Number(text);
    return this.slots.push(this.#slot(isInteger ? "integer" : "number", start, end, false, holder, key)) <= mostSlots;
  }

  #slot(
    kind: AnswerSlot["kind"],
    start: number,
    end: number,
    varies: boolean,
    holder: AnswerSlot["holder"],
    key: string,
  ): AnswerSlot {
    return { kind, start, end, value: varies ? "" : this.#bytes.toString("latin1", start, end), varies, holder, key };
  }
}

function isDecisive(name: string): boolean {
  return name === "object" || name === "role" || name === "model";
}
