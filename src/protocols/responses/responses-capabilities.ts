import type { GatewayError } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/refusal.js";
import { elementsOf, memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import { atOnce } from "../../wire/slices.js";
import { deepestBody } from "../shared/json-request.js";
import { addressAt, imageMedia, kindOfAddress } from "../shared/media-kind.js";
import { type Media, strayMedia, valueMedia } from "../shared/message-media.js";
import {
  imageNotice,
  type MissingCapabilities,
  unsupportedByModel,
  withoutImages,
} from "../shared/missing-capabilities.js";
import type { InputItem } from "./input-outline.js";
import { parseResponsesRequest, type ResponsesRequest } from "./responses-request.js";
import type { ToolSpan } from "./tool-kinds.js";

/** @throws GatewayError 400 when the request asks for something that the model cannot do, and `action` is `refuse`. */
export function refuseMissingInResponse(request: ResponsesRequest, model: string, missing: MissingCapabilities): void {
  if (missing.action !== "refuse") return;
  const { tools } = request;
  // A search tool that a client lists in every request is removed anyway.
  const tool = missing.tools ? tools.find(({ runner }) => runner !== "search") : undefined;
  if (tool !== undefined) throw unsupportedByModel(model, tool.path, "tools");
  if (missing.reasoning && responseAsksToReason(request))
    throw unsupportedByModel(model, "reasoning.effort", "reasoning");
  const image = missing.vision ? inputMedia(request).find(({ hasImage }) => hasImage) : undefined;
  if (image === undefined) return;
  const { message, part } = image;
  const isOutput = request.items?.[message]?.type.endsWith("_output") === true;
  const place = part === undefined ? "" : `.${isOutput ? "output" : "content"}[${part}]`;
  throw unsupportedByModel(model, `input[${message}]${place}`, "images");
}

/** Whether the request asks for reasoning. A summary alone does not count: clients request it every time. */
export function responseAsksToReason({ body, members, skips }: ResponsesRequest): boolean {
  const reasoning = memberOf(members, "reasoning");
  if (reasoning === undefined || body[reasoning.start] !== 0x7b) return false;
  return membersOf(body, reasoning.start, mostMembers, skips).some((member) => {
    if (member.name !== "effort") return false;
    const effort = valueAt(body, member);
    return effort !== null && effort !== "none";
  });
}

/** More than any server has. */
const mostMembers = 16;

/** The request without images that the model is to be relieved of. */
export function withoutMissingVision(
  request: ResponsesRequest,
  { action, vision }: MissingCapabilities,
): ResponsesRequest {
  if (action !== "drop" || !vision) return request;
  const seen = withoutImages(request.body, inputMedia(request), ({ message }) =>
    request.items?.[message]?.type === "image_generation_call" ? itemNotice : partNotice,
  );
  return seen === undefined ? request : atOnce(parseResponsesRequest(seen, deepestBody));
}

const partNotice = JSON.stringify({ type: "input_text", text: imageNotice });
const itemNotice = JSON.stringify({ role: "assistant", content: imageNotice });

/** Members to remove for a model that lacks these features. For images, see `withoutMissingVision`. */
export function missingMembers({ tools, reasoning }: Pick<MissingCapabilities, "tools" | "reasoning">): string[] {
  return [...(tools ? ["tools", "tool_choice", "parallel_tool_calls"] : []), ...(reasoning ? ["reasoning"] : [])];
}

/**
 * The tools in the request's list that the model's server would run itself, at a price of its own, and that must be
 * removed: web searches, which some clients list in every request. A model can work without them.
 *
 * @param lets - whether the operator lets tools of the type go. Default: none.
 * @throws GatewayError 400 for any other such tool, which the request needs.
 */
export function hostedToolsToDrop(
  request: ResponsesRequest,
  lets: (type: string) => boolean = () => false,
): readonly ToolSpan[] {
  if (request.tools.length === 0) return request.tools;
  return request.tools.filter((tool) => {
    const { runner, type } = tool;
    if (runner === "client" || (type !== undefined && lets(type))) return false;
    // Only a tool in the request's own list can be removed.
    if (runner === "search" && /^tools\[\d+\]$/.test(tool.path)) return true;
    throw unsupportedTool(`${tool.path}.type`, tool.type);
  });
}

/** A 400 for a tool that is not available here. Another target may know the client's own tools. */
export function unsupportedTool(param: string, type: string | undefined): GatewayError {
  const shown = type === undefined ? "Tools without a type" : `Tools of the type '${type.slice(0, 100)}'`;
  const message = `${shown} are not supported here. Send tools of the types 'function' and 'custom'.`;
  return beyondTarget(param, message, "unsupported_tool");
}

/**
 * The images, audio and files of the input, in their order: in messages, in outputs of tools, and made by a server.
 * @returns each with the index of its item and, if it is in a list, of its part.
 * @throws GatewayError 400 when there is more than the limit.
 */
export function inputMedia(request: ResponsesRequest): Media[] {
  return (request.items ?? []).flatMap((item, index) => {
    if (item.type === "image_generation_call") return madeImage(request, item, index);
    const media = item.contents.flatMap(({ start }) => contentMedia(request, start, index));
    const strays = strayMedia(
      request.body,
      item.start,
      request.skips,
      item.contents.map(({ start }) => start),
    );
    return [...media, ...strays.map((stray) => ({ ...stray, message: index }))];
  });
}

function contentMedia({ body, skips }: ResponsesRequest, start: number, item: number): Media[] {
  if (body[start] === 0x7b) return inPlace({ body, skips }, start, item, undefined);
  if (body[start] !== 0x5b) return [];
  return elementsOf(body, start, skips).flatMap((part, index) => inPlace({ body, skips }, part, item, index));
}

function inPlace(
  { body, skips }: Pick<ResponsesRequest, "body" | "skips">,
  start: number,
  item: number,
  part: number | undefined,
): Media[] {
  const found = valueMedia(body, start, skips);
  return found.length === 0 ? found : found.map((media) => ({ ...media, message: item, part }));
}

/** The pixels of a generated image are in the item itself. */
function madeImage({ body }: ResponsesRequest, { start, end, result }: InputItem, index: number): Media[] {
  if (result === undefined || body[result.start] !== 0x22) return [];
  return [
    {
      start,
      end,
      kind: Math.max(imageMedia, kindOfAddress(addressAt(body, result.start))),
      hasImage: true,
      isStray: false,
      values: [result],
      message: index,
      part: undefined,
    },
  ];
}
