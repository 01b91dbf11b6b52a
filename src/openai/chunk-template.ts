import { Buffer, isUtf8 } from "node:buffer";
import type { ByteWriter } from "./byte-writer.js";
import { elementsOf, type JsonMember, membersOf } from "./json-members.js";

/** Members of a delta that carry the model's text, a piece per chunk. */
const textMembers: readonly string[] = ["content", "reasoning_content", "reasoning"];

/** A stretch of text between two quotes that differs from chunk to chunk. */
interface Slot {
  start: number;
  end: number;
}

const eventStart = Buffer.from("data: ");
const eventEnd = Buffer.from("\n\n");
const quote = 0x22;
const backslash = 0x5c;

/**
 * What the chunks of a stream have in common: all but the text of the delta. A chunk that matches byte for byte needs
 * no parsing: what has to be changed in it is known from the one that the template was made of.
 */
export class ChunkTemplate {
  readonly #input: readonly Buffer[];
  readonly #output: readonly Buffer[];
  /** Which of the slots holds the model's text. */
  readonly #textSlot: number;
  readonly #slots: Slot[];

  private constructor(input: readonly Buffer[], output: readonly Buffer[], textSlot: number) {
    this.#input = input;
    this.#output = output;
    this.#textSlot = textSlot;
    this.#slots = input.slice(1).map(() => ({ start: 0, end: 0 }));
  }

  /**
   * Makes a template of a chunk and of what was sent for it.
   * @param received - the chunk's JSON.
   * @param sent - its event, as it went to the client.
   * @returns `undefined` when the chunk is not plain text of one choice in the middle of a stream.
   */
  static learn(received: Uint8Array, sent: Uint8Array): ChunkTemplate | undefined {
    const json = sent.subarray(eventStart.length, sent.length - eventEnd.length);
    const from = findSlots(received);
    const to = findSlots(json);
    if (from === undefined || to === undefined || from.text !== to.text || from.slots.length !== to.slots.length) {
      return undefined;
    }
    // A choice that was repaired may have needed it only because it was the first.
    if (from.choices.compare(to.choices) !== 0) return undefined;
    return new ChunkTemplate(literals(received, from.slots), literals(json, to.slots), from.text);
  }

  /**
   * Passes on the event that begins at `start`, if it matches.
   * @returns the bytes of text that it carries, or -1 when it does not match; {@link end} is then unchanged.
   */
  pass(bytes: Buffer, start: number, out: ByteWriter): number {
    const slots = this.#slots;
    let position = start;
    let textBytes = 0;
    for (let index = 0; index < this.#input.length; index++) {
      const literal = this.#input[index] as Buffer;
      const literalEnd = position + literal.length;
      if (literalEnd > bytes.length || bytes.compare(literal, 0, literal.length, position, literalEnd) !== 0) return -1;
      position = literalEnd;
      const slot = slots[index];
      if (slot === undefined) break;
      const escapes = measureString(bytes, position, slot);
      if (escapes < 0) return -1;
      if (index === this.#textSlot) textBytes = slot.end - slot.start - escapes;
      position = slot.end;
    }
    for (let index = 0; index < this.#output.length; index++) {
      out.write(this.#output[index] as Buffer);
      const slot = slots[index];
      if (slot !== undefined) out.writeFrom(bytes, slot.start, slot.end);
    }
    this.end = position;
    return textBytes;
  }

  /** Where the last event that {@link pass} has passed on ended. */
  end = 0;
}

/**
 * Finds the end of a string, up to its quote.
 * @returns how many bytes its escapes take up more than what they stand for, or -1 when it is not one to be sure of.
 */
function measureString(bytes: Uint8Array, start: number, slot: Slot): number {
  let position = start;
  let escapes = 0;
  let ascii = true;
  for (;;) {
    const byte = bytes[position];
    if (byte === undefined || byte < 0x20) return -1;
    if (byte === quote) break;
    if (byte === backslash) {
      if (!isShortEscape(bytes[position + 1])) return -1;
      escapes++;
      position++;
    } else if (byte >= 0x80) {
      ascii = false;
    }
    position++;
  }
  if (!ascii && !isUtf8(bytes.subarray(start, position))) return -1;
  slot.start = start;
  slot.end = position;
  return escapes;
}

/** All but `\u`: what that stands for takes more than a glance. */
function isShortEscape(byte: number | undefined): boolean {
  switch (byte) {
    case quote:
    case backslash:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}

/** The text of the only choice's delta, and OpenAI's random padding, in the order in which they stand. */
function findSlots(json: Uint8Array): { slots: Slot[]; text: number; choices: Buffer } | undefined {
  const members = membersOf(json);
  const choices = only(members, "choices");
  if (!areDistinct(members) || choices === undefined || json[choices.start] !== 0x5b) return undefined;
  const usage = members.find(({ name }) => name === "usage");
  if (usage !== undefined && json[usage.start] !== 0x6e) return undefined;
  if (members.some(({ name }) => name === "error" || name === "x_groq")) return undefined;
  const [choice, ...others] = elementsOf(json, choices.start);
  if (choice === undefined || others.length > 0) return undefined;
  const text = findText(json, choice);
  if (text === undefined) return undefined;
  const padding = only(members, "obfuscation");
  const slots = [text];
  if (padding !== undefined && json[padding.start] === quote) slots.push(inside(padding));
  slots.sort((left, right) => left.start - right.start);
  return { slots, text: slots.indexOf(text), choices: Buffer.from(json.subarray(choices.start, choices.end)) };
}

function findText(json: Uint8Array, choice: number): Slot | undefined {
  const members = membersOf(json, choice);
  const finish = only(members, "finish_reason");
  const delta = only(members, "delta");
  if (!areDistinct(members) || only(members, "index") === undefined || delta === undefined) return undefined;
  if (finish !== undefined && json[finish.start] !== 0x6e) return undefined;
  const deltaMembers = membersOf(json, delta.start);
  if (json[delta.start] !== 0x7b || !areDistinct(deltaMembers)) return undefined;
  const rest = deltaMembers.filter(({ name, start }) => name !== "role" && json[start] !== 0x6e);
  const [text, ...more] = rest;
  if (text === undefined || more.length > 0 || !textMembers.includes(text.name) || json[text.start] !== quote) {
    return undefined;
  }
  return inside(text);
}

function only(members: readonly JsonMember[], name: string): JsonMember | undefined {
  return members.find((member) => member.name === name);
}

function areDistinct(members: readonly JsonMember[]): boolean {
  return new Set(members.map(({ name }) => name)).size === members.length;
}

function inside({ start, end }: JsonMember): Slot {
  return { start: start + 1, end: end - 1 };
}

/** The event in pieces: what stands before, between and behind the slots. */
function literals(json: Uint8Array, slots: readonly Slot[]): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end } of slots) {
    pieces.push(Buffer.from(json.subarray(from, start)));
    from = end;
  }
  pieces.push(Buffer.from(json.subarray(from)));
  pieces[0] = Buffer.concat([eventStart, pieces[0] as Buffer]);
  pieces.push(Buffer.concat([pieces.pop() as Buffer, eventEnd]));
  return pieces;
}
