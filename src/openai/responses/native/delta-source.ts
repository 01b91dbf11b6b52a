import type { Buffer } from "node:buffer";
import { memberOf, membersOf } from "../../../wire/json-members.js";
import type { EventPlace } from "../../../wire/templates/event-template.js";
import type { ByteSpan } from "../../../wire/templates/measure-string.js";
import { areDistinct, placeOf } from "../../../wire/templates/places.js";
import type { EventPlaces, TemplateSource } from "../../../wire/templates/template-shortcut.js";
import type { ResponseProgress } from "../response-progress.js";

/** The events that bring a piece of text: they differ in that, in their number, and in OpenAI's random padding. */
export class DeltaSource implements TemplateSource {
  readonly #progress: ResponseProgress;
  /** The number of the last event; -1: there was none. */
  count = -1;

  constructor(progress: ResponseProgress) {
    this.#progress = progress;
  }

  takes(): boolean {
    return true;
  }

  placesOf(received: Buffer, sent: Buffer): EventPlaces | undefined {
    if (!received.equals(sent)) return undefined;
    const members = membersOf(received);
    const delta = memberOf(members, "delta");
    if (!areDistinct(members) || delta === undefined || received[delta.start] !== 0x22) return undefined;
    const places: EventPlace[] = [placeOf("text", delta)];
    const padding = memberOf(members, "obfuscation");
    if (padding !== undefined && received[padding.start] === 0x22) places.push(placeOf("padding", padding));
    const number = memberOf(members, "sequence_number");
    if (number !== undefined) places.push(placeOf("number", number));
    places.sort((left, right) => left.start - right.start);
    return { received: places, sent: places };
  }

  passed(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number, number: number): void {
    this.count = number < 0 ? this.count + 1 : number;
    this.#progress.textCame(bytes, text, escapes);
  }
}
