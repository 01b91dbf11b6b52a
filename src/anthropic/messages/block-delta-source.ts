import type { Buffer } from "node:buffer";
import { memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import type { EventPlace } from "../../wire/templates/event-template.js";
import type { ByteSpan } from "../../wire/templates/measure-string.js";
import { areDistinct, placeOf } from "../../wire/templates/places.js";
import type { EventPlaces, TemplateSource } from "../../wire/templates/template-shortcut.js";
import type { MessageProgress } from "./message-progress.js";

/** The members of a delta that bring what the model writes, one in each. */
const textMembers: readonly string[] = ["text", "thinking", "partial_json"];

/** The events that bring a piece of a block: they differ in its text alone. */
export class BlockDeltaSource implements TemplateSource {
  readonly count = 0;
  readonly #progress: MessageProgress;

  constructor(progress: MessageProgress) {
    this.#progress = progress;
  }

  takes(): boolean {
    return true;
  }

  placesOf(received: Buffer, sent: Buffer): EventPlaces | undefined {
    if (!received.equals(sent)) return undefined;
    const found = findBlockText(received);
    return found && { received: [found.place], sent: [found.place] };
  }

  passed(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number): void {
    this.#progress.textCame(bytes, text, escapes);
  }
}

/** The text of an event. */
export interface BlockText {
  readonly place: EventPlace;
  /** The member of the delta that has it. */
  readonly member: string;
}

/** @returns where the text of a `content_block_delta` stands that has one; `undefined` for all else. */
export function findBlockText(json: Buffer): BlockText | undefined {
  const members = membersOf(json);
  const type = memberOf(members, "type");
  const delta = memberOf(members, "delta");
  if (!areDistinct(members) || type === undefined || delta === undefined || json[delta.start] !== 0x7b)
    return undefined;
  if (valueAt(json, type) !== "content_block_delta") return undefined;
  const inner = membersOf(json, delta.start);
  const others = inner.filter(({ name }) => name !== "type" && name !== "index");
  const [text, ...more] = others;
  if (!areDistinct(inner) || text === undefined || more.length > 0 || !textMembers.includes(text.name))
    return undefined;
  return json[text.start] === 0x22 ? { place: placeOf("text", text), member: text.name } : undefined;
}
