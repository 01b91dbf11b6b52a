import { elementsOf, endOfValue, type JsonMember, memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import type { Span } from "../chat/message-outline.js";
import type { ResponsesRequest } from "./responses-request.js";

/** Who runs a tool: the client; the model's server, to search the web; the model's server in another way. */
export type ToolRunner = "client" | "search" | "server";

/** A tool of a request, as offsets. */
export interface ToolSpan extends Span {
  /** Where it stands in the request, such as `tools[2]`. */
  readonly path: string;
  readonly type: string | undefined;
  readonly members: readonly JsonMember[];
}

const clientTools: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "namespace",
  "tool_search",
  "local_shell",
  "apply_patch",
  "computer",
  "computer_use_preview",
]);

/** Far beyond any API. */
const mostTools = 2048;
const mostMembers = 64;

/** Items of an input that make further tools known. */
const itemsWithTools: ReadonlySet<string> = new Set(["tool_search_output", "additional_tools"]);

/** Who runs a tool of this type, as far as its type says. */
export function runnerOf(type: string | undefined): ToolRunner {
  if (type === undefined) return "server";
  if (clientTools.has(type)) return "client";
  return /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/.test(type) ? "search" : "server";
}

/** The tools of a request, those within namespaces and items included, in their order. */
export function toolsOf(request: ResponsesRequest): ToolSpan[] {
  const { body, members, leaps, items } = request;
  const tools: ToolSpan[] = [];
  const listed = memberOf(members, "tools");
  if (listed !== undefined) addTools(request, listed, "tools", tools);
  for (const [index, { type, start }] of (items ?? []).entries()) {
    if (!itemsWithTools.has(type)) continue;
    const list = memberOf(membersOf(body, start, mostMembers, leaps), "tools");
    if (list !== undefined) addTools(request, list, `input[${index}].tools`, tools);
  }
  return tools;
}

/** @param list - the array. */
function addTools(request: ResponsesRequest, list: Span, path: string, tools: ToolSpan[]): void {
  const { body, leaps } = request;
  if (body[list.start] !== 0x5b) return;
  for (const [index, start] of elementsOf(body, list.start, leaps, mostTools).entries()) {
    const end = endOfValue(body, start, leaps);
    const members = body[start] === 0x7b ? membersOf(body, start, mostMembers, leaps) : [];
    const member = memberOf(members, "type");
    const type = member === undefined || member.end - member.start > 256 ? undefined : valueAt(body, member);
    tools.push({ start, end, path: `${path}[${index}]`, type: typeof type === "string" ? type : undefined, members });
    const inner = type === "namespace" ? memberOf(members, "tools") : undefined;
    if (inner !== undefined) addTools(request, inner, `${path}[${index}].tools`, tools);
  }
}
