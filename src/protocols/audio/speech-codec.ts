import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/upstream-fault.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import type { AttemptContext } from "../shared/exchange.js";
import { PassedCodec, type PassedEvent } from "../shared/passed-codec.js";
import { ReceivedResponse } from "../shared/received-response.js";
import { fromErrorObject } from "../shared/upstream-failure.js";
import { type SpeechBounds, SpeechProgress } from "./speech-progress.js";

export type SpeechContext = AttemptContext & SpeechBounds;

/** Passes an upstream's events of speech to the client. */
export class SpeechCodec extends PassedCodec<SpeechProgress, SpeechContext> {
  constructor(context: SpeechContext) {
    super(new SpeechProgress(context), context);
  }

  protected pass(event: PassedEvent, length: number): Uint8Array | undefined {
    this.count(event, length);
    return event.bytes(this.context);
  }

  protected count({ json, type }: PassedEvent, length: number): void {
    // Whatever a server calls it, its client has got sound.
    if (typeof json["audio"] === "string") this.progress.came(length);
    if (type === "speech.audio.done") this.progress.ended(json["usage"]);
  }

  /** No document is speech. @throws StreamFault | GatewayError */
  whole(body: Uint8Array): never {
    const { json } = new ReceivedResponse(withoutByteOrderMark(body));
    if (isRecord(json) && isRecord(json["error"])) throw fromErrorObject(json["error"], this.context);
    throw new StreamFault("garbage");
  }
}

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
    const { bytes, skips } = event.received;
    const audio = memberOf(membersOf(bytes, 0, Number.POSITIVE_INFINITY, skips), "audio");
    const text = audio && valueAt(bytes, audio);
    if (typeof text !== "string") throw new StreamFault("garbage");
    return Buffer.from(text, "base64");
  }

  protected override done(): undefined {
    return undefined;
  }
}

const nothing = Buffer.alloc(0);

/** Passes the bytes of speech as they come. A break of them cannot be told, but by breaking off. */
export class SpeechBytes {
  readonly isBytes = true;
  readonly progress: SpeechProgress;
  readonly contentType: string;

  constructor(bounds: SpeechBounds, contentType: string) {
    this.progress = new SpeechProgress(bounds);
    this.contentType = contentType;
  }

  take(piece: Uint8Array): Uint8Array {
    this.progress.came(piece.length);
    return piece;
  }

  /** @throws StreamFault `incomplete` where there is no sound at all. */
  end(): Uint8Array {
    if (!this.progress.hasOutput) throw new StreamFault("incomplete");
    return nothing;
  }

  event(): never {
    throw new StreamFault("garbage");
  }

  whole(): never {
    throw new StreamFault("garbage");
  }

  keepAlive(): Uint8Array {
    return nothing;
  }

  fault(): Uint8Array {
    return nothing;
  }
}
