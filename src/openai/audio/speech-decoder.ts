import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/stream-fault.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import { PassedEvent } from "../passed-event.js";
import { SpeechCodec, type SpeechContext } from "./speech-codec.js";

/** Makes the bytes that a client wants of the events that have the usage. */
export class SpeechDecoder extends SpeechCodec {
  readonly isBytes = true;
  readonly contentType: string;

  constructor(context: SpeechContext, contentType: string) {
    super(context);
    this.contentType = contentType;
  }

  override event(event: ServerSentEvent): Uint8Array | undefined {
    const read = this.read(event);
    if (!(read instanceof PassedEvent) || typeof read.json["audio"] !== "string") return undefined;
    const { bytes, leaps } = read.received;
    const audio = memberOf(membersOf(bytes, 0, Number.POSITIVE_INFINITY, leaps), "audio");
    const text = audio && valueAt(bytes, audio);
    if (typeof text !== "string") throw new StreamFault("garbage");
    return Buffer.from(text, "base64");
  }
}
