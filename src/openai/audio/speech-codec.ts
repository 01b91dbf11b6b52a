import { StreamFault } from "../../errors/stream-fault.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { fromErrorObject } from "../../model-api/failure/upstream-failure.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { isRecord } from "../../wire/is-record.js";
import { PassedCodec } from "../passed-codec.js";
import type { PassedEvent } from "../passed-event.js";
import type { SpeechBounds } from "./speech-bounds.js";
import { SpeechProgress } from "./speech-progress.js";

export type SpeechContext = AnswerContext & SpeechBounds;

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
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    if (isRecord(json) && isRecord(json["error"])) throw fromErrorObject(json["error"], this.context);
    throw new StreamFault("garbage");
  }
}
