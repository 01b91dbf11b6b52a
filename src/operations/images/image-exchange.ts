import type { OperationName } from "../../metering/operation-name.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { readErrorBody } from "../../model-api/failure/read-error-body.js";
import { type ImageContext, toImageAnswer } from "../../openai/images/image-answer.js";
import { ImageCodec } from "../../openai/images/image-codec.js";
import { mostOfImages } from "../../openai/images/image-usage.js";
import { readWhole, refuseWhole, type WholeReader } from "../../openai/read-whole.js";
import type { MemberEdits } from "../../wire/json-members.js";
import { toFailureContext } from "../answer-context.js";
import type { Exchange } from "../operation.js";

/** A request for images as a target gets it. */
export interface SentImages {
  readonly whole: Uint8Array;
  readonly pieces: readonly Uint8Array[] | undefined;
  /** `undefined`: it is JSON. */
  readonly contentType: string | undefined;
  /** `undefined`: it is JSON. */
  readonly with: ((edits: MemberEdits) => readonly Uint8Array[]) | undefined;
  /** What of it an error may repeat. */
  readonly fields: Uint8Array;
}

/** A request for images, and its response: neither is parsed. */
export class ImageExchange implements Exchange, WholeReader {
  readonly operation: OperationName;
  readonly bytesAreTokens = false;
  readonly needsNoTexts = true;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bodyWith?: (edits: MemberEdits) => readonly Uint8Array[];
  readonly #sent: SentImages;
  readonly #context: ImageContext;

  constructor(operation: OperationName, sent: SentImages, context: ImageContext) {
    this.operation = operation;
    if (sent.contentType !== undefined) this.headers = { "content-type": sent.contentType };
    if (sent.with !== undefined) this.bodyWith = sent.with;
    this.#sent = sent;
    this.#context = context;
  }

  get body(): Uint8Array {
    return this.#sent.whole;
  }

  get pieces(): readonly Uint8Array[] | undefined {
    return this.#sent.pieces;
  }

  readWhole(bytes: Uint8Array) {
    return readWhole(bytes, this);
  }

  read(received: ReceivedAnswer) {
    return toImageAnswer(received, this.#context);
  }

  refuse(received: ReceivedAnswer): never {
    return refuseWhole(received, this.#context);
  }

  /** The upstream makes all of them, whoever waits. */
  partialTokens(): UsageCounts {
    return mostOfImages(this.#context);
  }

  readStream() {
    return new ImageCodec(this.#context, this.operation === "images/edits" ? "image_edit" : "image_generation");
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, toFailureContext(this.#context, this.#sent.fields));
  }
}
