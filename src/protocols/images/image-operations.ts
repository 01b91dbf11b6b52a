import { editText, piecesOfText, wholeText } from "../../wire/edited-bytes.js";
import { isFormType } from "../../wire/form-boundary.js";
import { editMembers, type MemberEdits } from "../../wire/json-members.js";
import { PiecedBytes } from "../../wire/pieced-bytes.js";
import { requireAllowedMembers } from "../shared/demand.js";
import { toAttemptContext } from "../shared/exchange.js";
import { FormBody } from "../shared/form-request.js";
import { openAIProtocol } from "../shared/openai-protocol.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
  UploadedBodies,
} from "../shared/operation.js";
import { jsonBodies, ParsedRequest, requireJsonType } from "../shared/parsed-request.js";
import { layoutOf, promptMembers } from "../shared/prompt-layout.js";
import {
  type ImageEditRequest,
  imageEditNames,
  imageEditWith,
  parseImageEditForm,
  parseImageEditJson,
} from "./image-edit-request.js";
import { ImageExchange, imageContext, imageDemand, imageMemberEdits, type SentImages } from "./image-exchange.js";
import {
  type ImageRequest,
  imageEditsTable,
  imageNames,
  imagesTable,
  parseImageRequest,
  requireSize,
} from "./image-request.js";
import { imagePrices } from "./image-usage.js";

const settings = [
  ...["size", "quality", "partial_images", "response_format", "output_format", "output_compression", "background"],
  ...["moderation", "style", "guidance", "guidance_scale", "cfg_scale", "input_fidelity", "strength"],
];

/** `POST /v1/images/generations` and `/v1/images/edits` */
const imagesLayout = layoutOf([
  ...promptMembers(settings, "settings"),
  ...promptMembers(["image", "images", "mask"], "none", "user"),
  ...promptMembers(["prompt", "negative_prompt"], "prompt", "user"),
]);

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
  ...jsonBodies(parseImageRequest, (request) => new ImageModelRequest(request)),
};

class ImageModelRequest extends ParsedRequest<ImageRequest> implements ModelRequest {
  readonly asksForMuch = true;

  demand(model: ModelTraits): Demand {
    const request = this.request;
    requireAllowedMembers(request, model, imagesTable);
    requireSize(request, model.images?.sizes);
    return imageDemand(request, model);
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("images/generations")) return undefined;
    const request = this.request;
    const context = imageContext(toAttemptContext(target, model, attempt, "prompt"), request.asked, model);
    const edits = imageMemberEdits(request, { target, model, table: imagesTable });
    const whole = editMembers(request.body, request.members, edits);
    const sent = { whole, fields: whole, pieces: undefined, contentType: undefined, with: undefined };
    return new ImageExchange("images/generations", sent, context);
  }
}

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
    const answer = toAttemptContext(target, model, attempt, "prompt");
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
