import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/stream-fault.js";
import { memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import type { PassedEvent } from "../passed-event.js";
import { SpeechCodec, type SpeechContext } from "./speech-codec.js";

/** Makes the bytes that a client wants of the events that have the usage. */
export class SpeechDecoder extends SpeechCodec {
  readonly isBytes = true;
  readonly contentType: string;

  constructor(context: SpeechContext, contentType: string) {
    super(context);
    this.contentType = contentType;
  }

  protected override pass(event: PassedEvent, length: number): Uint8Array | undefined {
    this.count(event, length);
    if (typeof event.json["audio"] !== "string") return undefined;
    const { bytes, leaps } = event.received;
    const audio = memberOf(membersOf(bytes, 0, Number.POSITIVE_INFINITY, leaps), "audio");
    const text = audio && valueAt(bytes, audio);
    if (typeof text !== "string") throw new StreamFault("garbage");
    return Buffer.from(text, "base64");
  }

  protected override done(): undefined {
    return undefined;
  }
}
