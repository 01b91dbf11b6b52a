import { Buffer, isUtf8 } from "node:buffer";
import type { ByteWriter } from "../../wire/byte-writer.js";
import { unpooled } from "../../wire/copy-out-of-pool.js";
import { eventEnd, eventStart } from "../../wire/event-frame.js";
import { elementsOf, type JsonMember, memberOf, membersOf } from "../../wire/json-members.js";
import type { ChatProgress } from "./chat-progress.js";

/** Members of a delta that contain the model's text. */
const textMembers: readonly string[] = ["content", "reasoning_content", "reasoning"];

/** A position at which the text between two quotes differs from chunk to chunk. */
interface Slot {
  start: number;
  end: number;
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * What the chunks of a stream have in common: everything but the text of the delta. A chunk that matches it byte for
 * byte needs no parsing. The edits are known from the chunk that the template was made from.
 */
export class ChunkTemplate {
  readonly #received: Literals;
  readonly #sent: Literals;
  /** The index of the slot that contains the model's text. */
  readonly #textSlot: number;
  readonly #slots: Slot[];
  readonly #choice: number;

  private constructor(received: Literals, sent: Literals, { text, choice }: Pick<Found, "text" | "choice">) {
    this.#received = received;
    this.#sent = sent;
    this.#textSlot = text;
    this.#choice = choice;
    this.#slots = [...received.between, received.tail].map(() => ({ start: 0, end: 0 }));
  }

  /**
   * Makes a template from a chunk and its event for the client.
   * @param received - the chunk's JSON.
   * @param sent - its event, as the client got it.
   * @returns `undefined` unless the chunk is plain text of one choice in the middle of a stream.
   */
  static learn(received: Uint8Array, sent: Uint8Array): ChunkTemplate | undefined {
    const json = sent.subarray(eventStart.length, sent.length - eventEnd.length);
    const from = findSlots(received);
    const to = from && findSlots(json);
    if (from === undefined || to === undefined || from.text !== to.text || from.slots.length !== to.slots.length) {
      return undefined;
    }
    // A repaired choice may have needed the repair only because it was the first.
    if (Buffer.compare(from.choices, to.choices) !== 0) return undefined;
    return new ChunkTemplate(literals(received, from.slots), literals(json, to.slots), from);
  }

  /**
   * Passes on all matching events in a row that begin at `start`, and adds their texts to the progress.
   * @returns the end of the last one; `start` when there was none.
   */
  pass(bytes: Buffer, start: number, out: ByteWriter, progress: ChatProgress): number {
    const { head, tail, joint } = this.#received;
    if (!stands(head, bytes, start)) return start;
    let end = start;
    // The end of one event and the beginning of the next are compared, and written, together.
    let before = this.#sent.head;
    for (let position = start + head.length; ; position += joint.length) {
      const escapes = this.#measure(bytes, position);
      if (escapes < 0) break;
      position = this.#slotsEnd;
      const isFollowed = stands(joint, bytes, position);
      if (!isFollowed && !stands(tail, bytes, position)) break;
      this.#write(bytes, before, out);
      before = this.#sent.joint;
      const text = this.#slots[this.#textSlot] as Slot;
      progress.outputOf(this.#choice).addEscaped(bytes, text.start, text.end, escapes);
      end = position + tail.length;
      if (!isFollowed) break;
    }
    if (end > start) out.write(this.#sent.tail);
    return end;
  }

  #slotsEnd = 0;

  /** Finds the slots of an event whose first slot begins at `start`. @returns the escapes of its text, or -1. */
  #measure(bytes: Buffer, start: number): number {
    const { between } = this.#received;
    let textEscapes = 0;
    let position = start;
    for (let index = 0; index < this.#slots.length; index++) {
      const slot = this.#slots[index] as Slot;
      const escapes = measureString(bytes, position, slot);
      if (escapes < 0) return -1;
      if (index === this.#textSlot) textEscapes = escapes;
      position = slot.end;
      const literal = between[index];
      if (literal === undefined) break;
      if (!stands(literal, bytes, position)) return -1;
      position += literal.length;
    }
    this.#slotsEnd = position;
    return textEscapes;
  }

  #write(bytes: Buffer, before: Buffer, out: ByteWriter): void {
    out.write(before);
    for (let index = 0; index < this.#slots.length; index++) {
      if (index > 0) out.write(this.#sent.between[index - 1] as Buffer);
      const { start, end } = this.#slots[index] as Slot;
      out.writeFrom(bytes, start, end);
    }
  }
}

/** The bytes before, between and after the slots of an event. */
interface Literals {
  head: Buffer;
  between: readonly Buffer[];
  tail: Buffer;
  /** The end of one event, and the beginning of the next. */
  joint: Buffer;
}

function stands(literal: Buffer, bytes: Buffer, position: number): boolean {
  const end = position + literal.length;
  return end <= bytes.length && bytes.compare(literal, 0, literal.length, position, end) === 0;
}

/**
 * Finds the end of a string, up to its quote.
 * @returns how many bytes longer its escapes are than the characters that they stand for; -1 for a string that needs a
 * full parser.
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

/** All escapes but `\u`, which needs a full parser. */
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

/** Where the text of the only choice's delta, and OpenAI's random padding, stand in a chunk. */
interface Found {
  /** In the order of their positions. */
  slots: Slot[];
  /** Which of them is the text's. */
  text: number;
  /** The index of the choice. */
  choice: number;
  choices: Uint8Array;
}

function findSlots(json: Uint8Array): Found | undefined {
  const members = membersOf(json);
  const choices = memberOf(members, "choices");
  if (!areDistinct(members) || choices === undefined || json[choices.start] !== 0x5b) return undefined;
  const usage = memberOf(members, "usage");
  if (usage !== undefined && json[usage.start] !== 0x6e) return undefined;
  if (members.some(({ name }) => name === "error" || name === "x_groq")) return undefined;
  const [choice, ...others] = elementsOf(json, choices.start);
  if (choice === undefined || others.length > 0) return undefined;
  const found = findText(json, choice);
  if (found === undefined) return undefined;
  const { text, index } = found;
  const padding = memberOf(members, "obfuscation");
  const slots = [text];
  if (padding !== undefined && json[padding.start] === quote) slots.push(inside(padding));
  slots.sort((left, right) => left.start - right.start);
  return { slots, text: slots.indexOf(text), choice: index, choices: json.subarray(choices.start, choices.end) };
}

function findText(json: Uint8Array, choice: number): { text: Slot; index: number } | undefined {
  const members = membersOf(json, choice);
  const finish = memberOf(members, "finish_reason");
  const delta = memberOf(members, "delta");
  const index = memberOf(members, "index");
  if (!areDistinct(members) || index === undefined || delta === undefined) return undefined;
  if (finish !== undefined && json[finish.start] !== 0x6e) return undefined;
  const deltaMembers = membersOf(json, delta.start);
  if (json[delta.start] !== 0x7b || !areDistinct(deltaMembers)) return undefined;
  const rest = deltaMembers.filter(({ name, start }) => name !== "role" && json[start] !== 0x6e);
  const [text, ...more] = rest;
  if (text === undefined || more.length > 0 || !textMembers.includes(text.name) || json[text.start] !== quote) {
    return undefined;
  }
  return { text: inside(text), index: Number(Buffer.from(json.subarray(index.start, index.end)).toString()) };
}

function areDistinct(members: readonly JsonMember[]): boolean {
  return members.every((member) => memberOf(members, member.name) === member);
}

function inside({ start, end }: JsonMember): Slot {
  return { start: start + 1, end: end - 1 };
}

function literals(json: Uint8Array, slots: readonly Slot[]): Literals {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end } of slots) {
    pieces.push(json.subarray(from, start));
    from = end;
  }
  const [first = json, ...between] = pieces;
  const parts = [json.subarray(from), eventEnd, eventStart, first, ...between];
  const all = unpooled(Buffer.concat(parts));
  const tailEnd = json.length - from + eventEnd.length;
  const jointEnd = tailEnd + eventStart.length + first.length;
  let end = jointEnd;
  return {
    joint: all.subarray(0, jointEnd),
    tail: all.subarray(0, tailEnd),
    head: all.subarray(tailEnd, jointEnd),
    between: between.map((piece) => {
      const start = end;
      end += piece.length;
      return all.subarray(start, end);
    }),
  };
}
