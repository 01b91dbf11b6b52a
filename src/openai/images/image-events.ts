import { Buffer } from "node:buffer";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { eventEnd } from "../../wire/event-frame.js";
import { elementsOf, memberOf, membersOf } from "../../wire/json-members.js";

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
  const elements = data === undefined ? [] : elementsOf(bytes, data.start, leaps);
  const common = Object.fromEntries([["created_at", json["created"]], ...repeated.map((name) => [name, json[name]])]);
  return Buffer.concat(
    elements.flatMap((start, place) => {
      const usage = place === elements.length - 1 ? json["usage"] : undefined;
      const head = JSON.stringify({ type, ...common, usage }).slice(0, -1);
      const members = membersOf(bytes, start, Number.POSITIVE_INFINITY, leaps);
      const payloads = ["b64_json", "url", "revised_prompt"].flatMap((name) => {
        const member = memberOf(members, name);
        return member === undefined ? [] : [Buffer.from(`,"${name}":`), source.subarray(member.start, member.end)];
      });
      return [Buffer.from(`event: ${type}\ndata: ${head}`), ...payloads, Buffer.from("}"), eventEnd];
    }),
  );
}
