import { invalidType, missingParameter } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/refusal.js";
import type { ThoughtSeal } from "../../seal/payload-seal.js";
import { isRecord } from "../../wire/is-record.js";
import { memberOf } from "../../wire/json-members.js";
import { SliceCount, type Steps } from "../../wire/slices.js";
import { valueSteps } from "../../wire/value-steps.js";
import type { ResponsesRequest } from "../responses/responses-request.js";
import { type ChatTools, chooseTools, type ToolList, toChatTools } from "./chat-tools.js";
import { type ChatMessage, Conversation } from "./conversation.js";
import { addItem, type Item } from "./item-messages.js";
import { fewValuesSteps, memberValue } from "./request-elements.js";
import { wantsLogprobs } from "./response-context.js";
import type { ToolNames } from "./tool-names.js";

/** How a target wants its chat completions. */
export interface ToChatOptions {
  /** Thoughts of another target are left out. */
  readonly thoughts: ThoughtSeal;
  /** The model can reason: an effort that the client asks for goes to it. Default: `true`. */
  readonly reasoning?: boolean | undefined;
}

/** A request in the words of chat completions. */
export interface ChatTranslation {
  /** The body, of JSON values. */
  readonly body: Readonly<Record<string, unknown>>;
  /** What the names in the answer's calls mean. */
  readonly names: ToolNames;
}

/** Members that both APIs have alike. */
const alike = ["temperature", "top_p", "user"];

/**
 * The request as one of chat completions. The output cap stands in `max_completion_tokens`; a server's dialect comes on top,
 * as for any chat. What the request refers to must be in its place already: see `expandInput`.
 *
 * @throws GatewayError 400 for what no chat can say, with the `param` of this API.
 */
export function* chatRequestOfResponsesSteps(
  request: ResponsesRequest,
  options: ToChatOptions,
): Steps<ChatTranslation> {
  const { model, stream, maxOutputTokens, items } = request;
  yield* fewValuesSteps(request, "input");
  const count = new SliceCount();
  const parsed: ParsedItem[] = [];
  for (const { start, end, type } of items ?? []) {
    parsed.push({ item: (yield* valueSteps(request.body, { start, end }, request.skips, count)) as Item, type });
  }
  const tools = toChatTools(toolLists(request, parsed));
  const messages = yield* toMessages(request, parsed, tools, options);
  if (messages.length === 0) throw beyondTarget("input", "'input' holds nothing that this model can be sent.");
  const body: Record<string, unknown> = { model, messages };
  if (stream) body["stream"] = true;
  if (maxOutputTokens !== undefined) body["max_completion_tokens"] = maxOutputTokens;
  for (const name of alike) set(body, name, memberValue(request, name));
  addTools(body, request, tools);
  addText(body, settingOf(request, parsed, "text"));
  const reasoning = options.reasoning !== false ? settingOf(request, parsed, "reasoning") : undefined;
  if (isRecord(reasoning)) set(body, "reasoning_effort", reasoning["effort"]);
  addLogprobs(body, request);
  return { body, names: tools.names };
}

/** What an item costs, as bytes that are read in the same time. */
const itemBytes = 256;

interface ParsedItem {
  readonly item: Item;
  readonly type: string;
}

/** What the request says, with what the updates within its input have replaced. */
function settingOf(request: ResponsesRequest, items: readonly ParsedItem[], name: "text" | "reasoning"): unknown {
  let setting = memberValue(request, name);
  for (const { item, type } of items) {
    const update = type === "configuration_update" ? item[name] : undefined;
    if (isRecord(update)) setting = isRecord(setting) ? { ...setting, ...update } : update;
  }
  return setting;
}

function toolLists(request: ResponsesRequest, items: readonly ParsedItem[]): ToolList[] {
  const listed = memberValue(request, "tools");
  const lists: ToolList[] = Array.isArray(listed) ? [{ path: "tools", tools: listed }] : [];
  for (const [index, { item, type }] of items.entries()) {
    const { tools } = item;
    if ((type === "tool_search_output" || type === "additional_tools") && Array.isArray(tools)) {
      lists.push({ path: `input[${index}].tools`, tools });
    }
  }
  return lists;
}

function* toMessages(
  request: ResponsesRequest,
  items: readonly ParsedItem[],
  { names }: ChatTools,
  { thoughts }: ToChatOptions,
): Steps<ChatMessage[]> {
  const conversation = new Conversation();
  const instructions = memberValue(request, "instructions");
  if (typeof instructions === "string" && instructions !== "") {
    conversation.message({ role: instructionRole(items), content: instructions });
  }
  const own = request.items === undefined ? memberOf(request.members, "input") : undefined;
  const input = own && (yield* valueSteps(request.body, own, request.skips));
  if (typeof input === "string") conversation.message({ role: "user", content: input });
  const context = { conversation, names, thoughts };
  const count = new SliceCount();
  for (const [index, { item, type }] of items.entries()) {
    addItem(item, type, index, context);
    if (count.isFull(itemBytes)) yield;
  }
  return conversation.messages();
}

/** Servers that tell the two roles apart take one of them in a request. */
function instructionRole(items: readonly ParsedItem[]): string {
  return items.some(({ item }) => item["role"] === "developer") ? "developer" : "system";
}

function addTools(body: Record<string, unknown>, request: ResponsesRequest, chat: ChatTools): void {
  const { tools, choice } = chooseTools(memberValue(request, "tool_choice"), chat);
  // Without tools, servers refuse what is said of them.
  if (tools.length === 0) return;
  body["tools"] = tools;
  set(body, "tool_choice", choice);
  set(body, "parallel_tool_calls", memberValue(request, "parallel_tool_calls"));
}

function addText(body: Record<string, unknown>, text: unknown): void {
  if (!isRecord(text)) return;
  set(body, "verbosity", text["verbosity"]);
  const { format } = text;
  if (format === undefined || format === null) return;
  if (!isRecord(format)) throw invalidType("text.format", "an object");
  switch (format["type"]) {
    case "text":
      return;
    case "json_object":
      body["response_format"] = { type: "json_object" };
      return;
    case "json_schema":
      body["response_format"] = { type: "json_schema", json_schema: schemaOf(format) };
      return;
    default:
      // A server that speaks the API itself may know more.
      throw beyondTarget("text.format.type", "'text.format.type' must be 'text', 'json_object' or 'json_schema'.");
  }
}

function schemaOf({ name, schema, description, strict }: Record<string, unknown>): Record<string, unknown> {
  if (name === undefined || name === null || name === "") throw missingParameter("text.format.name");
  if (!isRecord(schema)) {
    throw schema === undefined
      ? missingParameter("text.format.schema")
      : invalidType("text.format.schema", "an object");
  }
  const json: Record<string, unknown> = { name, schema };
  set(json, "description", description);
  set(json, "strict", strict);
  return json;
}

function addLogprobs(body: Record<string, unknown>, request: ResponsesRequest): void {
  if (!wantsLogprobs(request)) return;
  body["logprobs"] = true;
  set(body, "top_logprobs", memberValue(request, "top_logprobs"));
}

/** `null` is as good as absent. */
function set(body: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== undefined && value !== null) body[name] = value;
}
