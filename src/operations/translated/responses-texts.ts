import type { Buffer } from "node:buffer";
import type { ChatToResponsesStream } from "../../translate/chat-to-responses-stream.js";
import { memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import type { EventPlace } from "../../wire/templates/event-template.js";
import { placeOf } from "../../wire/templates/places.js";
import type { TextSink } from "./text-shortcut.js";

/** The events of a response that bring text of its message alone. */
export class ResponsesTexts implements TextSink {
  readonly #stream: ChatToResponsesStream;

  constructor(stream: ChatToResponsesStream) {
    this.#stream = stream;
  }

  get count(): number {
    return this.#stream.count;
  }

  textIn(sent: Buffer): readonly EventPlace[] | undefined {
    const members = membersOf(sent);
    const type = memberOf(members, "type");
    const delta = memberOf(members, "delta");
    const number = memberOf(members, "sequence_number");
    const logprobs = memberOf(members, "logprobs");
    if (type === undefined || delta === undefined || number === undefined || logprobs === undefined) return undefined;
    if (valueAt(sent, type) !== "response.output_text.delta" || sent[logprobs.start + 1] !== 0x5d) return undefined;
    return [placeOf("count", number), placeOf("text", delta)];
  }

  textWent(text: string): void {
    this.#stream.textWent(text);
  }
}
