import { imageNotice, withoutImages } from "../../model-api/media/without-images.js";
import { type Lacking, unsupportedByModel } from "../../model-api/prompt/lacking.js";
import { deepestBody } from "../../model-api/request/deepest-body.js";
import { memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import { inputMedia } from "./input-media.js";
import { parseResponsesRequest, type ResponsesRequest } from "./responses-request.js";

/** @throws GatewayError 400 when the request asks for something that the model cannot do, and `action` is `refuse`. */
export function refuseLackingInResponse(request: ResponsesRequest, model: string, lacking: Lacking): void {
  if (lacking.action !== "refuse") return;
  const { tools } = request;
  // A search tool that a client lists in every request is removed anyway.
  const tool = lacking.tools ? tools.find(({ runner }) => runner !== "search") : undefined;
  if (tool !== undefined) throw unsupportedByModel(model, tool.path, "tools");
  if (lacking.reasoning && responseAsksToReason(request))
    throw unsupportedByModel(model, "reasoning.effort", "reasoning");
  const image = lacking.vision ? inputMedia(request).find(({ hasImage }) => hasImage) : undefined;
  if (image === undefined) return;
  const { message, part } = image;
  const isOutput = request.items?.[message]?.type.endsWith("_output") === true;
  const place = part === undefined ? "" : `.${isOutput ? "output" : "content"}[${part}]`;
  throw unsupportedByModel(model, `input[${message}]${place}`, "images");
}

/** Whether the request asks for reasoning. A summary alone does not count: clients request it every time. */
export function responseAsksToReason({ body, members, leaps }: ResponsesRequest): boolean {
  const reasoning = memberOf(members, "reasoning");
  if (reasoning === undefined || body[reasoning.start] !== 0x7b) return false;
  return membersOf(body, reasoning.start, mostMembers, leaps).some((member) => {
    if (member.name !== "effort") return false;
    const effort = valueAt(body, member);
    return effort !== null && effort !== "none";
  });
}

/** More than any server has. */
const mostMembers = 16;

/** The request without images that the model is to be relieved of. */
export function withoutLackingVision(request: ResponsesRequest, { action, vision }: Lacking): ResponsesRequest {
  if (action !== "drop" || !vision) return request;
  const seen = withoutImages(request.body, inputMedia(request), ({ message }) =>
    request.items?.[message]?.type === "image_generation_call" ? itemNotice : partNotice,
  );
  return seen === undefined ? request : parseResponsesRequest(seen, deepestBody);
}

const partNotice = JSON.stringify({ type: "input_text", text: imageNotice });
const itemNotice = JSON.stringify({ role: "assistant", content: imageNotice });

/** Members to remove for a model that lacks these features. For images, see `withoutLackingVision`. */
export function lackingMembers({ tools, reasoning }: Pick<Lacking, "tools" | "reasoning">): string[] {
  return [...(tools ? ["tools", "tool_choice", "parallel_tool_calls"] : []), ...(reasoning ? ["reasoning"] : [])];
}
