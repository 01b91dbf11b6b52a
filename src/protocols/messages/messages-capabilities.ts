import { GatewayError, invalidType, invalidValue } from "../../errors/gateway-error.js";
import { asBuffer } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { editMembers, elementsOf, type MemberEdits, memberOf, membersOf, skipSpace } from "../../wire/json-members.js";
import { atOnce } from "../../wire/slices.js";
import { deepestBody } from "../shared/json-request.js";
import { type Media, messageMedia } from "../shared/message-media.js";
import {
  firstImage,
  imageNotice,
  type MissingCapabilities,
  unsupportedByModel,
  withoutImages,
} from "../shared/missing-capabilities.js";
import type { UnknownPlace } from "../shared/protocol-table.js";
import { type MessagesRequest, parseMessagesRequest } from "./messages-request.js";
import { messagesTable } from "./messages-table.js";

/** Of what says how to think, there is no more. */
const mostMembers = 32;

/**
 * Of thinking nothing is refused: clients ask every model for it, so that it is left out where a model cannot think.
 * @throws GatewayError 400 when the request asks for what the model cannot do, and is not to be relieved of it.
 */
export function refuseMissingOfMessages(request: MessagesRequest, model: string, missing: MissingCapabilities): void {
  if (missing.action !== "refuse") return;
  if (missing.tools && hasTools(request)) throw unsupportedByModel(model, "tools", "tools");
  const image = missing.vision ? firstImage(request) : undefined;
  if (image !== undefined) throw unsupportedByModel(model, image, "images");
}

/** The request without images and tools that the model is to be relieved of. Thinking is left out of every body. */
export function withoutMissing(
  request: MessagesRequest,
  { action, tools, vision }: MissingCapabilities,
): MessagesRequest {
  if (action !== "drop") return request;
  const seen = vision ? withoutImages(request.body, messageMedia(request), toNotice) : undefined;
  const blind = seen === undefined ? request : atOnce(parseMessagesRequest(seen, deepestBody));
  const { body, members } = blind;
  const names = ["tools", "tool_choice"].filter((name) => tools && memberOf(members, name) !== undefined);
  if (names.length === 0) return blind;
  const edits = new Map(names.map((name) => [name, null]));
  return atOnce(parseMessagesRequest(editMembers(body, members, edits), deepestBody));
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

/**
 * The path of the first tool that the server runs itself, at a price of its own, such as a search of the web: in the
 * request's list, or added by one of its messages.
 *
 * @param lets - whether the operator lets such a tool go. Default: none.
 * @throws GatewayError 400 when the tools are no list of objects, or one cannot be told from another.
 */
export function hostedMessagesTool(
  { body, members, skips, unknown = [] }: MessagesRequest,
  lets: (tool: UnknownPlace) => boolean = () => false,
): string | undefined {
  const tools = memberOf(members, "tools");
  if (tools !== undefined && body[tools.start] !== 0x6e) {
    if (body[tools.start] !== 0x5b) throw invalidType("tools", "a valid list");
    const wrong = elementsOf(body, tools.start, skips).findIndex((start) => body[start] !== 0x7b);
    if (wrong >= 0) throw invalidType(`tools[${wrong}]`, "an object");
  }
  const found = unknown.find((each) => each.place === "tool" && !lets(each));
  if (found?.name === "") throw invalidValue(found.path, "The tool's members cannot be told apart.");
  return found?.path;
}

/** The refusal of such a tool. @param param - its path. */
export function hostedToolRefused(param: string): GatewayError {
  return new GatewayError(
    "The tool is one that the server runs itself, at a price of its own. Define it as a custom tool.",
    {
      status: 400,
      code: "unsupported_parameter",
      param,
    },
  );
}

/**
 * Refuses a thread: its conversation would be the server's, shared by all accounts behind one key, and the prompt would
 * not be in the request. The code is that of Anthropic's own refusal: the tool runners of its SDKs then repeat the request
 * at once with the whole conversation, and without a thread from then on.
 * @throws GatewayError 400
 */
export function refuseThread({ body, members }: Pick<MessagesRequest, "body" | "members">): void {
  const thread = memberOf(members, "thread");
  if (thread === undefined || body[thread.start] === 0x6e) return;
  const { why, advice } = messagesTable.find("member", "thread") ?? {};
  throw new GatewayError(`'thread' cannot be set here: it ${why}. ${advice}`, {
    status: 400,
    code: "unsupported_parameter",
    param: "thread",
    details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
  });
}

/**
 * Whether a request has its server sum up the conversation first, where that is long (Anthropic reference,
 * "Compaction"). It takes a call of the model of its own, which reads all and writes under the same cap.
 */
export function compactsContext({ body, members }: Pick<MessagesRequest, "body" | "members">): boolean {
  const member = memberOf(members, "context_management");
  if (member === undefined) return false;
  const management: unknown = JSON.parse(asBuffer(body).toString("utf8", member.start, member.end));
  if (!isRecord(management) || !Array.isArray(management["edits"])) return false;
  return management["edits"].some((edit) => isRecord(edit) && String(edit["type"]).startsWith("compact"));
}
