import { requireJsonType } from "../../model-api/request/json-content-type.js";
import { FormBody } from "../../openai/form/form-body.js";
import {
  type ImageEditRequest,
  imageEditNames,
  imageEditWith,
  parseImageEditForm,
  parseImageEditJson,
} from "../../openai/images/image-edit-request.js";
import { requireSize } from "../../openai/images/image-request.js";
import { imageEditsTable } from "../../openai/tables/images-table.js";
import { editText, piecesOfText, wholeText } from "../../wire/edited-bytes.js";
import { isFormType } from "../../wire/form/form-type.js";
import type { MemberEdits } from "../../wire/json-members.js";
import { PiecedBytes } from "../../wire/pieces/pieced-bytes.js";
import { toAnswerContext } from "../answer-context.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
  UploadedBodies,
} from "../operation.js";
import { ParsedRequest } from "../parsed-request.js";
import { openAIProtocol } from "../protocols/openai-protocol.js";
import { requireAllowedMembers } from "../require-fit.js";
import { imageContext } from "./image-context.js";
import { imageDemand } from "./image-demand.js";
import { ImageExchange, type SentImages } from "./image-exchange.js";
import { imageMemberEdits } from "./image-member-edits.js";
import { imagePrices } from "./image-prices.js";
import { imagesLayout } from "./images-layout.js";

const bodies: UploadedBodies = {
  takesUploads: true,
  checkContentType(contentType) {
    if (!isFormType(contentType)) requireJsonType(contentType, true);
  },
  async parse(pieces, { maxBodyDepth }, facts) {
    const contentType = facts.header("content-type");
    const request = await (isFormType(contentType)
      ? parseImageEditForm(pieces, contentType)
      : parseImageEditJson(new PiecedBytes(pieces).whole, maxBodyDepth));
    return new ImageEditModelRequest(request, maxBodyDepth);
  },
};

/** `POST /v1/images/edits`, as a form with files or as JSON. */
export const imageEdits: Operation<"images/edits"> = {
  name: "images/edits",
  paths: ["/v1/images/edits"],
  modelTypes: ["image"],
  priced: imagePrices,
  protocol: openAIProtocol,
  names: imageEditNames,
  table: imageEditsTable,
  prompt: imagesLayout,
  answers: undefined,
  ...bodies,
};

class ImageEditModelRequest extends ParsedRequest<ImageEditRequest> implements ModelRequest {
  readonly asksForMuch = true;
  readonly #maxDepth: number;

  constructor(request: ImageEditRequest, maxDepth: number) {
    super(request);
    this.#maxDepth = maxDepth;
  }

  get fields(): Uint8Array {
    return this.request.body;
  }

  async withFields(json: Uint8Array): Promise<ModelRequest> {
    const { form } = this.request;
    const request = form === undefined ? await parseImageEditJson(json, this.#maxDepth) : imageEditWith(json, form);
    return new ImageEditModelRequest(request, this.#maxDepth);
  }

  /** JSON stays: it is what errors are compared with. */
  get letGo(): (() => void) | undefined {
    const { form } = this.request;
    return form && (() => form.files.letGo());
  }

  demand(model: ModelTraits): Demand {
    const request = this.request;
    requireAllowedMembers(request, model, imageEditsTable);
    requireSize(request, model.images?.sizes);
    return imageDemand(request, model, this.#inputTokens(model));
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("images/edits")) return undefined;
    const request = this.request;
    const answer = toAnswerContext(target, model, attempt, "prompt");
    const context = imageContext(answer, request.asked, model, this.#inputTokens(model));
    const edits = imageMemberEdits(request, { target, model, table: imageEditsTable });
    return new ImageExchange("images/edits", sentFor(request, edits), context);
  }

  #inputTokens({ tokenBounds }: ModelTraits): number {
    return this.request.inputs * tokenBounds.image;
  }
}

function sentFor({ body, members, form }: ImageEditRequest, edits: MemberEdits): SentImages {
  if (form === undefined) {
    const sent = editText(body, members, edits);
    return {
      get whole() {
        return wholeText(sent);
      },
      ...{ pieces: piecesOfText(sent), contentType: undefined, with: undefined, fields: new Uint8Array() },
    };
  }
  const written = new FormBody(form, edits);
  return {
    get whole() {
      return written.whole;
    },
    get pieces() {
      return written.pieces;
    },
    ...{ contentType: written.contentType, with: (further) => written.with(further), fields: body },
  };
}
