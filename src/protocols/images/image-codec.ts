import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/upstream-fault.js";
import { asBuffer, withoutByteOrderMark } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { elementsOf, memberOf, membersOf } from "../../wire/json-members.js";
import { eventEnd } from "../../wire/plain-event.js";
import type { Skips } from "../../wire/skip-table.js";
import { PassedCodec, type PassedEvent } from "../shared/passed-codec.js";
import { ReceivedResponse } from "../shared/received-response.js";
import { fromErrorObject } from "../shared/upstream-failure.js";
import { visibleUsage } from "../shared/usage-object.js";
import { ImageProgress } from "./image-progress.js";
import { type ImageContext, isImage, toImageResponse } from "./image-response.js";

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
    const received = new ReceivedResponse(asBuffer(withoutByteOrderMark(body)));
    const outline = received.outline() ?? received;
    const { json } = outline;
    const answer = toImageResponse(outline, this.context);
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

/** What events repeat of a document. */
const repeated = ["size", "quality", "background", "output_format"];

/**
 * The images of a document as events, each complete. The usage is of all of them, and stands in the last one.
 * @param json - the document, without its long texts.
 * @param kind - what the types of events begin with.
 */
function imageEvents(received: ReceivedResponse, json: Readonly<Record<string, unknown>>, kind: string): Buffer {
  const { bytes, skips } = received;
  const source = asBuffer(bytes);
  const type = `${kind}.completed`;
  const data = memberOf(membersOf(bytes, 0, Number.POSITIVE_INFINITY, skips), "data");
  const elements = (data === undefined ? [] : elementsOf(bytes, data.start, skips))
    .map((start) => payloadsOf(source, start, skips))
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

function payloadsOf(source: Buffer, start: number, skips: Skips): Payload[] {
  const members = membersOf(source, start, Number.POSITIVE_INFINITY, skips);
  return ["b64_json", "url", "revised_prompt"].flatMap((name) => {
    const member = memberOf(members, name);
    return member === undefined ? [] : [{ name, value: source.subarray(member.start, member.end) }];
  });
}

/** Whether it holds an image: its bytes, or where they are. */
function isFilled({ name, value }: Payload): boolean {
  return name !== "revised_prompt" && value[0] === 0x22 && value.length > 2;
}
