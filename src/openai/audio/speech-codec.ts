import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import { StreamFault } from "../../errors/stream-fault.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { fromErrorObject } from "../../model-api/failure/upstream-failure.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { keepAliveComment } from "../../wire/event-frame.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { errorEvent } from "../error-event.js";
import { doneEvent, PassedEvent } from "../passed-event.js";
import { SpeechProgress } from "./speech-progress.js";
import type { SpeechBounds } from "./speech-usage.js";

export type SpeechContext = AnswerContext & SpeechBounds;

const nothing = Buffer.alloc(0);

/** Passes an upstream's events of speech to the client. */
export class SpeechCodec {
  readonly progress: SpeechProgress;
  readonly #context: SpeechContext;

  constructor(context: SpeechContext) {
    this.progress = new SpeechProgress(context);
    this.#context = context;
  }

  /** @throws StreamFault, or GatewayError for an error that the upstream sent. */
  event(event: ServerSentEvent): Uint8Array | undefined {
    const read = this.read(event);
    return read instanceof PassedEvent ? read.bytes(this.#context) : read;
  }

  /** @returns `undefined` where there is nothing for the client. */
  protected read({ data, event }: ServerSentEvent): PassedEvent | Uint8Array | undefined {
    const text = data.trim();
    if (this.progress.isDone || text === "") return undefined;
    if (text === "[DONE]") {
      this.progress.doneCame();
      return doneEvent;
    }
    const passed = new PassedEvent({ data: text, event }, this.#context);
    // Whatever a server calls it, its client has got sound.
    if (typeof passed.json["audio"] === "string") this.progress.came(text.length);
    if (passed.type === "speech.audio.done") this.progress.ended(passed.json["usage"]);
    return passed;
  }

  /** No document is speech. @throws StreamFault | GatewayError */
  whole(body: Uint8Array): never {
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    if (isRecord(json) && isRecord(json["error"])) throw fromErrorObject(json["error"], this.#context);
    throw new StreamFault("garbage");
  }

  /** @throws StreamFault `incomplete` */
  end(): Uint8Array {
    if (!this.progress.isComplete) throw new StreamFault("incomplete");
    return nothing;
  }

  keepAlive(): Uint8Array {
    return keepAliveComment;
  }

  fault(error: GatewayError): Uint8Array {
    return errorEvent(error);
  }
}
