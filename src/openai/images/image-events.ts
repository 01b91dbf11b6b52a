import { Buffer } from "node:buffer";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { eventEnd } from "../../wire/event-frame.js";
import { elementsOf, memberOf, membersOf } from "../../wire/json-members.js";
import type { Leaps } from "../../wire/leaps.js";

/** What events repeat of a document. */
const repeated = ["size", "quality", "background", "output_format"];

/**
 * The images of a document as events, each complete. The usage is of all of them, and stands in the last one.
 * @param json - the document, without its long texts.
 * @param kind - what the types of events begin with.
 */
export function imageEvents(received: ReceivedAnswer, json: Readonly<Record<string, unknown>>, kind: string): Buffer {
  const { bytes, leaps } = received;
  const source = asBuffer(bytes);
  const type = `${kind}.completed`;
  const data = memberOf(membersOf(bytes, 0, Number.POSITIVE_INFINITY, leaps), "data");
  const elements = (data === undefined ? [] : elementsOf(bytes, data.start, leaps))
    .map((start) => payloadsOf(source, start, leaps))
    .filter((payloads) => payloads.some(isFilled));
  const common = Object.fromEntries([["created_at", json["created"]], ...repeated.map((name) => [name, json[name]])]);
  return Buffer.concat(
    elements.flatMap((payloads, place) => {
      const usage = place === elements.length - 1 ? json["usage"] : undefined;
      const head = JSON.stringify({ type, ...common, usage }).slice(0, -1);
      const members = payloads.flatMap(({ name, value }) => [Buffer.from(`,"${name}":`), value]);
      return [Buffer.from(`event: ${type}\ndata: ${head}`), ...members, Buffer.from("}"), eventEnd];
    }),
  );
}

interface Payload {
  readonly name: string;
  readonly value: Buffer;
}

function payloadsOf(source: Buffer, start: number, leaps: Leaps): Payload[] {
  const members = membersOf(source, start, Number.POSITIVE_INFINITY, leaps);
  return ["b64_json", "url", "revised_prompt"].flatMap((name) => {
    const member = memberOf(members, name);
    return member === undefined ? [] : [{ name, value: source.subarray(member.start, member.end) }];
  });
}

/** Its bytes, or where they are. */
function isFilled({ name, value }: Payload): boolean {
  return name !== "revised_prompt" && value[0] === 0x22 && value.length > 2;
}
