import { beyondTarget } from "../../errors/refusal.js";
import type { OperationName } from "../../prices/operation-name.js";
import { largestCount, type UsageCounts } from "../../prices/usage-counts.js";
import type { MemberEdits } from "../../wire/json-members.js";
import type { Dialect } from "../shared/dialect.js";
import {
  type AttemptContext,
  calledName,
  contextWith,
  readErrorBody,
  readWhole,
  refuseWhole,
  toFailureContext,
  type WholeReader,
} from "../shared/exchange.js";
import type { Demand, Exchange, ModelTraits, TargetTraits } from "../shared/operation.js";
import { addNameEdits } from "../shared/parsed-request.js";
import type { ProtocolTable } from "../shared/protocol-table.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { ImageCodec } from "./image-codec.js";
import type { ImageRequest } from "./image-request.js";
import { type ImageContext, toImageResponse } from "./image-response.js";
import { type AskedImages, mostOfImages } from "./image-usage.js";

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

  read(received: ReceivedResponse) {
    return toImageResponse(received, this.#context);
  }

  refuse(received: ReceivedResponse): never {
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

/** What the images of an attempt are read with. @param inputImage - the tokens of images in the prompt. */
export function imageContext(
  answer: AttemptContext,
  asked: AskedImages,
  { images }: Pick<ModelTraits, "images">,
  inputImage?: number,
): ImageContext {
  return contextWith(answer, { asked, inputImage, tokensOf: images?.tokensOf });
}

/** What a request for images asks of a model. @param inputImage - tokens of images in the prompt, at the most. */
export function imageDemand(
  { asked, stream, promptTokens: ofText }: ImageRequest,
  model: ModelTraits,
  inputImage?: number,
): Demand {
  const promptTokens = Math.min(ofText + (inputImage ?? 0), largestCount);
  const bounds = { asked, promptTokens, inputImage, tokensOf: model.images?.tokensOf };
  // Each image of a stream comes with a usage of its own, the prompt in each.
  const times = stream ? asked.n : 1;
  const heldPromptTokens = Math.min(promptTokens * times, largestCount);
  const heldImages = inputImage === undefined ? undefined : Math.min(inputImage * times, largestCount);
  const most = mostOfImages({ ...bounds, promptTokens: heldPromptTokens, inputImage: heldImages });
  return {
    promptTokens: Math.min(promptTokens, model.contextLength),
    heldPromptTokens,
    promptBound: undefined,
    outputTokens: most.output,
    addedCap: undefined,
    most,
    // A stream that is broken off costs the image under way; a whole response all of them.
    chargedOnceSent: stream ? mostOfImages(bounds, 1) : most,
  };
}

/**
 * What a target gets of a request for images beside what its client sent.
 * @throws GatewayError 400 when it cannot give images in the form that the client asks for.
 */
export function imageMemberEdits(
  request: ImageRequest,
  { target, model, table }: { target: TargetTraits; model: ModelTraits; table: ProtocolTable },
): MemberEdits {
  const { upstreamModel } = target;
  const dialect = target.rules.dialectFor(request, target.dialect, table);
  const { sent, given } = imageFormatOf(dialect, upstreamModel);
  if (request.format !== undefined && given !== undefined && request.format !== given) {
    throw beyondTarget(
      "response_format",
      `'${calledName(model)}' gives images as '${given}' alone. Leave 'response_format' out, or send '${given}'.`,
    );
  }
  const edits: MemberEdits = new Map([["model", JSON.stringify(upstreamModel)]]);
  if (dialect !== undefined) addNameEdits(request, dialect, edits);
  if (sent !== undefined) edits.set("response_format", sent === null ? null : JSON.stringify(sent));
  return edits;
}

const refusesFormat = /^(chatgpt|gpt)-image-/;

/** What a target is sent as `response_format`. */
interface SentFormat {
  /** `null`: nothing. `undefined`: what the client says. */
  readonly sent: "b64_json" | "url" | null | undefined;
  /** What comes; `undefined`: it is not known. */
  readonly given: "b64_json" | "url" | undefined;
}

/** @param upstreamModel - the target's own name for it. */
function imageFormatOf(dialect: Dialect | undefined, upstreamModel: string): SentFormat {
  const own = dialect?.imageFormat;
  if (own === "none" || refusesFormat.test(upstreamModel)) return { sent: null, given: "b64_json" };
  return { sent: own, given: own };
}
