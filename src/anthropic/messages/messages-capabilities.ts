import { type Media, messageMedia } from "../../model-api/media/message-media.js";
import { imageNotice, withoutImages } from "../../model-api/media/without-images.js";
import { firstImage, type Lacking, unsupportedByModel } from "../../model-api/prompt/lacking.js";
import { deepestBody } from "../../model-api/request/deepest-body.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { editMembers, type MemberEdits, memberOf, membersOf, skipSpace } from "../../wire/json-members.js";
import { type MessagesRequest, parseMessagesRequest } from "./messages-request.js";

/** Of what says how to think, there is no more. */
const mostMembers = 32;

/**
 * Of thinking nothing is refused: clients ask every model for it, so that it is left out where a model cannot think.
 * @throws GatewayError 400 when the request asks for what the model cannot do, and is not to be relieved of it.
 */
export function refuseLackingOfMessages(request: MessagesRequest, model: string, lacking: Lacking): void {
  if (lacking.action !== "refuse") return;
  if (lacking.tools && hasTools(request)) throw unsupportedByModel(model, "tools", "tools");
  const image = lacking.vision ? firstImage(request) : undefined;
  if (image !== undefined) throw unsupportedByModel(model, image, "images");
}

/** The request without images and tools that the model is to be relieved of. Thinking is left out of every body. */
export function withoutLacking(request: MessagesRequest, { action, tools, vision }: Lacking): MessagesRequest {
  if (action !== "drop") return request;
  const seen = vision ? withoutImages(request.body, messageMedia(request), toNotice) : undefined;
  const blind = seen === undefined ? request : parseMessagesRequest(seen, deepestBody);
  const { body, members } = blind;
  const names = ["tools", "tool_choice"].filter((name) => tools && memberOf(members, name) !== undefined);
  if (names.length === 0) return blind;
  const edits = new Map(names.map((name) => [name, null]));
  return parseMessagesRequest(editMembers(body, members, edits), deepestBody);
}

/** Beside the content, no server reads images. */
function toNotice({ part }: Media): string {
  return part === undefined ? "null" : JSON.stringify({ type: "text", text: imageNotice });
}

/** Whether the request itself asks the model to think. */
export function messagesAskToReason({ body, members }: MessagesRequest): boolean {
  const thinking = memberOf(members, "thinking");
  if (thinking === undefined || body[thinking.start] !== 0x7b) return false;
  const type = memberOf(membersOf(body, thinking.start, mostMembers), "type");
  return type !== undefined && asBuffer(body).toString("latin1", type.start, type.end) !== '"disabled"';
}

/** Adds what relieves a request of thinking to its edits. */
export function addThinkingEdits({ body, members }: MessagesRequest, edits: MemberEdits): void {
  if (memberOf(members, "thinking") !== undefined) edits.set("thinking", null);
  const config = memberOf(members, "output_config");
  if (config === undefined || body[config.start] !== 0x7b) return;
  const value = body.subarray(config.start, config.end);
  const own = membersOf(value, 0, mostMembers);
  if (memberOf(own, "effort") === undefined) return;
  const isAlone = own.length === 1;
  edits.set("output_config", isAlone ? null : editMembers(value, own, new Map([["effort", null]])));
}

function hasTools({ body, members }: MessagesRequest): boolean {
  const tools = memberOf(members, "tools");
  return tools !== undefined && body[tools.start] === 0x5b && body[skipSpace(body, tools.start + 1)] !== 0x5d;
}
