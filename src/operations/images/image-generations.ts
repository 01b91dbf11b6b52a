import {
  type ImageRequest,
  imageNames,
  parseImageRequest,
  parseImageRequestInTurns,
  requireSize,
} from "../../openai/images/image-request.js";
import { imagesTable } from "../../openai/tables/images-table.js";
import { editMembers } from "../../wire/json-members.js";
import { toAnswerContext } from "../answer-context.js";
import { jsonBodies, jsonReader } from "../json-bodies.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
} from "../operation.js";
import { ParsedRequest } from "../parsed-request.js";
import { openAIProtocol } from "../protocols/openai-protocol.js";
import { requireAllowedMembers } from "../require-fit.js";
import { imageContext } from "./image-context.js";
import { imageDemand } from "./image-demand.js";
import { ImageExchange } from "./image-exchange.js";
import { imageMemberEdits } from "./image-member-edits.js";
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
  ...jsonBodies(jsonReader(parseImageRequest, parseImageRequestInTurns), (request) => new ImageModelRequest(request)),
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
    const context = imageContext(toAnswerContext(target, model, attempt, "prompt"), request.asked, model);
    const edits = imageMemberEdits(request, { target, model, table: imagesTable });
    const whole = editMembers(request.body, request.members, edits);
    const sent = { whole, fields: whole, pieces: undefined, contentType: undefined, with: undefined };
    return new ImageExchange("images/generations", sent, context);
  }
}
