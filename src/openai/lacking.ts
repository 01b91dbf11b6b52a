import type { ChatRequest } from "./chat-request.js";
import { GatewayError } from "./errors.js";
import { elementsOf, type JsonMember, type MemberEdits, memberOf, membersOf, valueAt } from "./json-members.js";
import { imageParts } from "./message-edits.js";
import { isRecord } from "./usage.js";

/** What a model cannot do, and what becomes of requests that ask for it. */
export interface Lacking {
  readonly action: "refuse" | "drop";
  readonly tools: boolean;
  readonly reasoning: boolean;
  readonly vision: boolean;
}

/** @throws GatewayError 400 when the request asks for what the model cannot do, and is not to be relieved of it. */
export function refuseLacking(request: ChatRequest, model: string, lacking: Lacking): void {
  if (lacking.action !== "refuse") return;
  if (lacking.tools) {
    for (const name of ["tools", "functions"]) if (asksFor(request, name)) throw unsupported(model, name, "tools");
  }
  if (lacking.reasoning) {
    for (const name of reasoningMembers) if (asksFor(request, name)) throw unsupported(model, name, "reasoning");
  }
  if (!lacking.vision) return;
  const image = firstImage(request);
  if (image !== undefined) throw unsupported(model, image, "images");
}

export function asksToReason(request: ChatRequest): boolean {
  return reasoningMembers.some((name) => asksFor(request, name));
}

/** Adds what relieves a request of what the model cannot do; of images, see `editMessages`. */
export function addLackingEdits({ tools, reasoning }: Lacking, edits: MemberEdits): void {
  if (tools) for (const name of toolMembers) edits.set(name, null);
  if (reasoning) for (const name of reasoningMembers) edits.set(name, null);
}

const toolMembers = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"];
const reasoningMembers = ["reasoning_effort", "reasoning"];

function asksFor({ body, members }: ChatRequest, name: string): boolean {
  const member = members.find((candidate) => candidate.name === name);
  if (member === undefined) return false;
  if (body[member.start] === 0x5b) return elementsOf(body, member.start).length > 0;
  return !isNone(body, member);
}

/** `null`, `"none"`, and OpenRouter's `{"effort":"none"}` and `{"enabled":false}`. */
function isNone(body: Uint8Array, member: JsonMember): boolean {
  const value = valueAt(body, member);
  if (isRecord(value)) return value["effort"] === "none" || value["enabled"] === false;
  return value === null || value === "none";
}

/** The path of the first one. */
function firstImage({ body, members, leaps }: ChatRequest): string | undefined {
  const messages = memberOf(members, "messages");
  if (messages === undefined) return undefined;
  for (const [index, message] of elementsOf(body, messages.start, leaps).entries()) {
    const found = memberOf(membersOf(body, message, Number.POSITIVE_INFINITY, leaps), "content");
    const [image] = found === undefined ? [] : imageParts(body, found.start, leaps);
    if (image !== undefined) return `messages[${index}].content[${image.index}]`;
  }
  return undefined;
}

function unsupported(model: string, param: string, what: string): GatewayError {
  return new GatewayError(`'${model}' does not support ${what}. Leave '${param}' out, or use another model.`, {
    status: 400,
    code: "unsupported_parameter",
    param,
  });
}
