import { invalidType, missingParameter } from "../../errors/gateway-error.js";
import type { ThoughtSeal } from "../../seal/payload-seal.js";
import { isRecord } from "../../wire/is-record.js";
import { itemNotFound } from "../responses/conversation-errors.js";
import { readReasoning, thoughtNameFor } from "../responses/own-items.js";
import { isChatText, spokenParts, toChatParts, toContent } from "./chat-parts.js";
import { clientToolOf } from "./client-tools.js";
import type { Conversation } from "./conversation.js";
import { callIdOf } from "./tool-ids.js";
import type { ToolKind, ToolNames } from "./tool-names.js";
import { wrappedText } from "./wrapped-text.js";

/** What a translation of items goes by. */
interface ItemContext {
  readonly conversation: Conversation;
  readonly names: ToolNames;
  /** See `ToChatOptions`. */
  readonly thoughts: ThoughtSeal;
}

/** An item of an input, parsed. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * Adds an item to the conversation. One of which chat completions know nothing, as built-in tools of other servers leave
 * behind, is left out: a history that was made elsewhere goes on here.
 *
 * @param index - in the input.
 * @throws GatewayError 400
 */
export function addItem(item: Item, type: string, index: number, context: ItemContext): void {
  const { conversation, names } = context;
  const path = `input[${index}]`;
  switch (type) {
    case "message":
      addMessage(item, path, conversation);
      break;
    case "function_call":
      conversation.call(callIdOf(item, index), flatNameOf(item, "function", names, path), argumentsOf(item));
      break;
    case "custom_tool_call":
      conversation.call(callIdOf(item, index), flatNameOf(item, "custom", names, path), wrappedText(item["input"]));
      break;
    case "function_call_output":
    case "custom_tool_call_output":
      addOutput(item, index, conversation);
      break;
    case "tool_search_call":
    case "tool_search_output":
      addSearch(item, type, index, context);
      break;
    case "reasoning":
      addReasoning(item, context);
      break;
    case "item_reference":
      throw itemNotFound(typeof item["id"] === "string" ? item["id"] : "", index);
    default:
      addBuiltInItem(item, type, index, context);
  }
}

function addMessage(item: Item, path: string, conversation: Conversation): void {
  const { role, content } = item;
  const parts = (role === "assistant" ? spokenParts : toChatParts)(content, `${path}.content`);
  if (role !== "assistant") {
    conversation.message({ role: String(role), content: toContent(parts, "\n") });
    return;
  }
  conversation.text(
    parts
      .filter(isChatText)
      .map(({ text }) => text)
      .join(""),
  );
  for (const part of parts) if (typeof part["refusal"] === "string") conversation.refusal(part["refusal"]);
}

/** A search that a server has made is none of the model's calls. */
function addSearch(item: Item, type: string, index: number, { conversation, names }: ItemContext): void {
  if (item["execution"] === "server") return;
  const callId = callIdOf(item, index);
  if (type === "tool_search_output") {
    conversation.output(callId, [{ type: "text", text: foundTools(item, names) }]);
  } else {
    conversation.call(callId, names.flatten({ kind: "tool_search", name: "tool_search" }), argumentsOf(item));
  }
}

function addOutput(item: Item, index: number, conversation: Conversation): void {
  const { output } = item;
  const isPlain = output === null || output === undefined || typeof output === "string" || Array.isArray(output);
  const content = isPlain ? output : JSON.stringify(output);
  conversation.output(callIdOf(item, index), toChatParts(content, `input[${index}].output`));
}

/** Thoughts go back to where they are from. Many clients keep their text and id alone. */
function addReasoning(item: Item, { conversation, thoughts }: ItemContext): void {
  const { id, summary, encrypted_content: encrypted } = item;
  const members = readReasoning(thoughts, encrypted);
  const name = thoughtNameFor(thoughts.origin, id);
  const text = textsOf(summary);
  if (members !== undefined) conversation.reasoning(members);
  else if (name !== undefined && text !== "") conversation.reasoning({ [name]: text });
}

function textsOf(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts
    .flatMap((part) => (isRecord(part) && typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n\n");
}

/** Careless clients send an object. */
function argumentsOf({ arguments: args }: Item): string {
  if (typeof args === "string") return args === "" ? "{}" : args;
  return JSON.stringify(args ?? {});
}

function flatNameOf({ name, namespace }: Item, kind: ToolKind, names: ToolNames, path: string): string {
  if (name === undefined || name === null || name === "") throw missingParameter(`${path}.name`);
  if (typeof name !== "string") throw invalidType(`${path}.name`, "a string");
  return names.flatten({ kind, name, namespace: typeof namespace === "string" ? namespace : undefined });
}

/** The model reads under which names it can call what was found. */
function foundTools({ tools }: Item, names: ToolNames): string {
  const found: string[] = [];
  const add = (list: unknown, namespace: string | undefined) => {
    for (const tool of Array.isArray(list) ? list : []) {
      if (!isRecord(tool) || typeof tool["name"] !== "string") continue;
      const { type, name } = tool;
      if (type === "namespace") add(tool["tools"], name);
      else found.push(names.flatten({ kind: type === "custom" ? "custom" : "function", name, namespace }));
    }
  };
  add(tools, undefined);
  return found.length === 0 ? "No tools were found." : `Tools that can be called now: ${found.join(", ")}`;
}

/** What calls of a client's built-in tools say, by their types: the rest of the item is about it. */
const callMembers: ReadonlyMap<string, string> = new Map([
  ["local_shell_call", "action"],
  ["shell_call", "action"],
  ["apply_patch_call", "operation"],
  ["computer_call", "action"],
]);

/** What tools that a server has run gave, by the types of their items. */
const resultMembers: ReadonlyMap<string, string> = new Map([
  ["mcp_call", "output"],
  ["code_interpreter_call", "outputs"],
  ["file_search_call", "results"],
  ["program_output", "result"],
]);

/**
 * Adds what is left of a built-in tool in a history: what the client ran as a call with its output, what a server ran as its
 * output alone. All else, such as a search of the web or an opaque summary, is left out.
 */
function addBuiltInItem(
  item: Readonly<Record<string, unknown>>,
  type: string,
  index: number,
  { conversation, names }: { readonly conversation: Conversation; readonly names: ToolNames },
): void {
  const callId = callIdOf(item, index);
  const called = callMembers.get(type);
  const result = item[resultMembers.get(type) ?? ""] ?? "";
  if (called !== undefined) {
    const tool = type.slice(0, -"_call".length);
    const kind = clientToolOf(tool);
    const name = kind === undefined ? tool : names.flatten({ kind, name: kind });
    conversation.call(callId, name, JSON.stringify(item[called] ?? {}));
  } else if (type.endsWith("_call_output")) {
    conversation.output(callId, outputParts(item["output"] ?? item["status"], index));
  } else if (result !== "") {
    const text = typeof result === "string" ? result : JSON.stringify(result);
    conversation.output(callId, [{ type: "text", text }]);
  }
}

function outputParts(output: unknown, index: number) {
  if (isRecord(output) && output["type"] === "computer_screenshot") {
    return toChatParts([output], `input[${index}].output`);
  }
  const text = typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output);
  return [{ type: "text", text }];
}
