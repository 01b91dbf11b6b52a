import { StreamFault } from "../../errors/stream-fault.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { visibleUsage } from "../../model-api/answer/usage.js";
import { fromErrorObject } from "../../model-api/failure/upstream-failure.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { isRecord } from "../../wire/is-record.js";
import { PassedCodec } from "../passed-codec.js";
import type { PassedEvent } from "../passed-event.js";
import { type ImageContext, isImage, toImageAnswer } from "./image-answer.js";
import { imageEvents } from "./image-events.js";
import { ImageProgress } from "./image-progress.js";

/** Images of 4K come as one event. */
const largestEvent = 64 * 1024 * 1024;

/** Passes an upstream's stream of images to the client. Their bytes are neither parsed nor copied more than once. */
export class ImageCodec extends PassedCodec<ImageProgress, ImageContext> {
  readonly maxEventBytes = largestEvent;
  readonly #kind: string;

  /** @param kind - what the types of events begin with, such as `image_generation`. */
  constructor(context: ImageContext, kind: string) {
    super(new ImageProgress(context), context);
    this.#kind = kind;
  }

  protected pass(event: PassedEvent): Uint8Array {
    const { type, json } = event;
    if (typeof type === "string" && type.endsWith(".partial_image")) this.progress.partialCame();
    // Whatever a server calls it, its client has got an image. The name of an event alone, without one, is not enough.
    else if (isImage(json) || json["type"] === `${this.#kind}.completed`) this.progress.imageCame(json);
    return event.bytes(this.context);
  }

  /**
   * Makes events of a document that came in reply to a request for a stream.
   * @throws StreamFault `garbage` when it has no image, or GatewayError for an error.
   */
  whole(body: Uint8Array): Uint8Array {
    const received = new ReceivedAnswer(asBuffer(withoutByteOrderMark(body)));
    const outline = received.outline() ?? received;
    const { json } = outline;
    const answer = toImageAnswer(outline, this.context);
    if (answer === undefined || !isRecord(json)) {
      const error = isRecord(json) ? (json["error"] ?? undefined) : undefined;
      if (error !== undefined) throw fromErrorObject(error, this.context);
      throw new StreamFault("garbage");
    }
    this.progress.imagesCame(answer.tokens.images ?? [], answer.report);
    this.progress.unpriced = answer.unpriced;
    const usage = visibleUsage(json["usage"], this.context.dialect);
    return imageEvents(outline, { ...json, usage }, this.#kind);
  }
}
