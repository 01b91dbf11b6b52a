import { GatewayError, invalidType } from "../../errors/gateway-error.js";
import { elementsOf, memberOf, membersOf } from "../../wire/json-members.js";
import { type Steps, slicesOf } from "../../wire/slices.js";
import { messagesContent, requireContent, requirePart } from "../shared/content-shape.js";
import { namesOtherCap } from "../shared/demand.js";
import { InnerMembers } from "../shared/inner-members.js";
import { type JsonRequest, parseJsonRequest, readCount, readMember, readModel } from "../shared/json-request.js";
import { checkMessages, type MessageCheck, type MessageOutline } from "../shared/message-outline.js";
import { typeAt, type UnknownPlace, UnknownPlaces } from "../shared/protocol-table.js";
import { conversationMembers, RequestNames, reasoningMembers } from "../shared/request-names.js";
import { BlockWalk, watchBlocks } from "./block-walk.js";
import { messagesTable } from "./messages-table.js";

/** What the gateway itself reads of a request for a message (Anthropic reference, "Create a Message"). */
export interface MessagesRequest extends JsonRequest {
  /** What is where in its messages; noted for a long one. */
  readonly outline: MessageOutline | undefined;
  readonly model: string;
  readonly stream: boolean;
  /** 0: the prompt is to be cached, and not to be answered. Absent in requests that count tokens, and in those of careless clients. */
  readonly maxTokens: number | undefined;
  /** Whether some server may heed another cap of it. */
  readonly namesOtherCap: boolean;
}

/** The names of its output cap. */
export const messagesCaps = ["max_tokens"] as const;

export const messagesNames = new RequestNames({
  owned: [...conversationMembers, "system"],
  open: [
    ...reasoningMembers,
    ...["stop_sequences", "thinking", "output_config", "output_format", "mcp_servers", "container"],
    ...["context_management", "thread", "cache_control", "inference_geo", "speed"],
  ],
});

/** Far more edits than there are, and members of one. */
const mostEdits = 256;

/** The most elements of each list. Far beyond any API. */
const lists: readonly (readonly [name: string, most: number])[] = [
  ["system", 1024],
  ["tools", 2048],
  ["stop_sequences", 1024],
  ["mcp_servers", 256],
];

/**
 * Checks what the gateway itself relies on; every other member goes on as it is, known or not.
 * @throws GatewayError 400
 */
export function* parseMessagesRequest(bytes: Uint8Array, maxDepth: number): Steps<MessagesRequest> {
  const request = yield* parseJsonRequest(bytes, maxDepth, messagesNames);
  const model = readModel(request);
  for (const [name, most] of lists) checkLength(request, name, most);
  const messages = checkMessages(request, messagesContent, watchBlocks);
  yield* slicesOf(messages);
  return toMessagesRequest(request, model, messages);
}

/** What stands beside the messages: blocks of the system prompt, tools, and edits of a long conversation. */
function unknownBeside({ body, members, skips }: JsonRequest): readonly UnknownPlace[] | undefined {
  const places = new UnknownPlaces(messagesTable);
  const walk = new BlockWalk(body, skips, places);
  const system = memberOf(members, "system");
  if (system !== undefined) {
    walk.readList(system.start, () => "system");
    new InnerMembers(body, skips, messagesTable, places).readValue(system.start, () => "system");
  }
  const tools = memberOf(members, "tools");
  if (tools !== undefined) walk.readTools(tools.start, () => "tools");
  noteEdits({ body, members, skips }, places);
  return places.found;
}

function noteEdits(
  { body, members, skips }: Pick<JsonRequest, "body" | "members" | "skips">,
  places: UnknownPlaces,
): void {
  const management = memberOf(members, "context_management");
  if (management === undefined || body[management.start] !== 0x7b) return;
  const own = membersOf(body, management.start, mostEdits, skips);
  const edits = memberOf(own, "edits");
  const starts =
    edits !== undefined && body[edits.start] === 0x5b ? elementsOf(body, edits.start, skips, mostEdits) : [];
  // What lies beyond the bounds was not looked at.
  if (own.length > mostEdits || starts.length > mostEdits) places.note("edit", "", () => "context_management.edits");
  for (const [index, start] of starts.entries()) {
    const type = body[start] === 0x7b ? memberOf(membersOf(body, start, mostEdits, skips), "type") : undefined;
    const name = type === undefined ? "" : (typeAt(body, type.start, type.end) ?? "");
    places.note("edit", name, () => `context_management.edits[${index}]`);
  }
}

function toMessagesRequest(request: JsonRequest, model: string, { outline, unknown }: MessageCheck): MessagesRequest {
  const { body, members, skips, strangers } = request;
  requireSystem(request);
  const stream = readMember(request, "stream");
  if (stream !== undefined && typeof stream !== "boolean") throw invalidType("stream", "a boolean");
  return {
    body,
    members,
    skips,
    strangers,
    unknown: joined(unknown, unknownBeside(request)),
    outline,
    model,
    stream: stream === true,
    maxTokens: readCap(readMember(request, "max_tokens")),
    namesOtherCap: namesOtherCap(request, messagesCaps),
  };
}

function joined<T>(some: readonly T[] | undefined, others: readonly T[] | undefined): readonly T[] | undefined {
  return some === undefined || others === undefined ? (some ?? others) : [...some, ...others];
}

/** With a cap of 0, Anthropic answers nothing and puts the prompt into its cache. */
function readCap(value: unknown): number | undefined {
  return value === 0 ? 0 : readCount("max_tokens", value);
}

/** A text, or blocks. */
function requireSystem({ body, members, skips }: JsonRequest): void {
  const system = memberOf(members, "system");
  if (system === undefined || body[system.start] === 0x6e) return;
  requireContent(body[system.start], messagesContent, "system");
  if (body[system.start] === 0x22) return;
  const blocks = elementsOf(body, system.start, skips);
  for (const [index, start] of blocks.entries()) requirePart(body[start], messagesContent, `system[${index}]`);
}

function checkLength({ body, members, skips }: JsonRequest, name: string, most: number): void {
  const member = memberOf(members, name);
  if (member === undefined || body[member.start] !== 0x5b) return;
  if (elementsOf(body, member.start, skips, most).length <= most) return;
  throw new GatewayError(`'${name}' must hold at most ${most} elements.`, {
    status: 400,
    code: "array_above_max_length",
    param: name,
  });
}
