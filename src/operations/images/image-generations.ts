import { beyondTarget } from "../../errors/target-limit.js";
import { largestCount } from "../../metering/token-counts.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { readErrorBody } from "../../model-api/failure/read-error-body.js";
import { requireJsonType } from "../../model-api/request/json-content-type.js";
import { addNameEdits } from "../../openai/chat/request-edits.js";
import { type ImageContext, toImageAnswer } from "../../openai/images/image-answer.js";
import { ImageCodec } from "../../openai/images/image-codec.js";
import { imageFormatOf } from "../../openai/images/image-format.js";
import {
  type ImageRequest,
  imageNames,
  parseImageRequest,
  parseImageRequestInTurns,
  requireSize,
} from "../../openai/images/image-request.js";
import { mostOfImages } from "../../openai/images/image-usage.js";
import { tooLargeImages } from "../../openai/images/too-large-images.js";
import { readWhole, refuseWhole, type WholeReader } from "../../openai/read-whole.js";
import { imagesTable } from "../../openai/tables/images-table.js";
import { editMembers, type MemberEdits } from "../../wire/json-members.js";
import { sliceBytes } from "../../wire/slices.js";
import { toAnswerContext, toFailureContext } from "../answer-context.js";
import { calledName } from "../called-name.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
} from "../operation.js";
import { openAIProtocol } from "../protocols/openai-protocol.js";
import { requireAllowedMembers } from "../require-fit.js";
import { imageContext } from "./image-context.js";
import { imagePrices } from "./image-prices.js";
import { imagesLayout } from "./images-layout.js";

/** `POST /v1/images/generations` */
export const imageGenerations: Operation<"images/generations"> = {
  name: "images/generations",
  paths: ["/v1/images/generations"],
  modelTypes: ["image"],
  priced: imagePrices,
  protocol: openAIProtocol,
  names: imageNames,
  table: imagesTable,
  prompt: imagesLayout,
  answers: undefined,
  checkContentType: requireJsonType,
  parse: (body, { maxBodyDepth }) =>
    body.length > sliceBytes
      ? parseImageRequestInTurns(body, maxBodyDepth).then(toModelRequest)
      : toModelRequest(parseImageRequest(body, maxBodyDepth)),
};

const toModelRequest = (request: ImageRequest): ModelRequest => new ImageModelRequest(request);

class ImageModelRequest implements ModelRequest {
  readonly #request: ImageRequest;

  constructor(request: ImageRequest) {
    this.#request = request;
  }

  get model(): string {
    return this.#request.model;
  }

  get stream(): boolean {
    return this.#request.stream;
  }

  demand(model: ModelTraits): Demand {
    const request = this.#request;
    requireAllowedMembers(request, model, imagesTable);
    requireSize(request, model.images?.sizes);
    const { asked, stream, promptTokens } = request;
    const bounds = { asked, promptTokens, tokensOf: model.images?.tokensOf };
    const most = mostOfImages(bounds);
    return {
      promptTokens: Math.min(promptTokens, model.contextLength),
      heldPromptTokens: Math.min(promptTokens, largestCount),
      promptBound: undefined,
      outputTokens: most.output,
      addedCap: undefined,
      most,
      // A stream that is broken off costs the image under way; a whole response all of them.
      handedOver: stream ? mostOfImages(bounds, 1) : most,
    };
  }

  asksToReason(): boolean {
    return false;
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("images/generations")) return undefined;
    const request = this.#request;
    const { asked } = request;
    const context = imageContext(toAnswerContext(target, model, attempt, "prompt"), asked, model);
    return new ImageExchange(bodyFor(request, target, model), context);
  }
}

/** @throws GatewayError 400 when the target cannot give images in the form that the client asks for. */
function bodyFor(request: ImageRequest, target: TargetTraits, model: ModelTraits): Uint8Array {
  const { upstreamModel } = target;
  const dialect = target.rules.dialectFor(request, target.dialect, imagesTable);
  const { sent, given } = imageFormatOf(dialect, upstreamModel);
  if (request.format !== undefined && given !== undefined && request.format !== given) {
    throw beyondTarget(
      "response_format",
      `'${calledName(model)}' gives images as '${given}' alone. Leave 'response_format' out.`,
    );
  }
  const edits: MemberEdits = new Map([["model", JSON.stringify(upstreamModel)]]);
  if (dialect !== undefined) addNameEdits(request, dialect, edits);
  if (sent !== undefined) edits.set("response_format", sent === null ? null : JSON.stringify(sent));
  return editMembers(request.body, request.members, edits);
}

class ImageExchange implements Exchange, WholeReader {
  readonly operation = "images/generations";
  readonly bytesAreTokens = false;
  readonly needsNoTexts = true;
  readonly body: Uint8Array;
  readonly #context: ImageContext;

  constructor(body: Uint8Array, context: ImageContext) {
    this.body = body;
    this.#context = context;
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

  get tooLarge() {
    return tooLargeImages();
  }

  /** The upstream makes all of them, whoever waits. */
  partialTokens(): UsageCounts {
    return mostOfImages(this.#context);
  }

  readStream() {
    return new ImageCodec(this.#context, "image_generation");
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, toFailureContext(this.#context, this.body));
  }
}
