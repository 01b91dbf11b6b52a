import { ByteWriter } from "../../../wire/byte-writer.js";
import { unpooled } from "../../../wire/copy-out-of-pool.js";
import {
  editMembers,
  elementsOf,
  endOfValue,
  type MemberEdits,
  memberOf,
  membersOf,
  valueAt,
} from "../../../wire/json-members.js";
import type { Span } from "../../chat/message-outline.js";
import { ownThoughts } from "../own-thoughts.js";
import type { ResponsesRequest } from "../responses-request.js";
import { runnerOf } from "../tool-kinds.js";

/** A target that speaks the Responses API itself. */
export interface NativeTarget {
  readonly model: string;
  readonly maxOutputTokens: number | undefined;
  /** Members to remove. What the gateway itself sets is sent all the same. */
  readonly dropped?: readonly string[] | undefined;
  /** Tools to remove. */
  readonly withoutTools?: readonly Span[] | undefined;
}

/**
 * The request for the upstream. It has the upstream's name for the model and an output cap within the model's limit. It
 * stores nothing, and contains nothing that only the gateway can read. Everything else stays byte for byte. References
 * must be replaced before: see `expandInput`.
 */
export function toUpstreamResponsesBody(request: ResponsesRequest, target: NativeTarget): Uint8Array {
  const { body, members, maxOutputTokens = 0, stream } = request;
  const { model, dropped = [], withoutTools = [] } = target;
  const edits: MemberEdits = new Map();
  for (const name of dropped) edits.set(name, null);
  edits.set("model", JSON.stringify(model));
  edits.set("store", "false");
  edits.set("previous_response_id", null);
  if (maxOutputTokens > (target.maxOutputTokens ?? Number.POSITIVE_INFINITY)) {
    edits.set("max_output_tokens", String(target.maxOutputTokens));
  }
  const thoughts = ownThoughts(request).map(({ item }) => item);
  const input = memberOf(members, "input");
  if (input !== undefined && thoughts.length > 0) edits.set("input", withoutElements(request, input, thoughts));
  if (withoutTools.length > 0) addToolEdits(request, withoutTools, edits);
  const edited = editMembers(body, members, edits);
  // The copy is kept until the response has ended.
  return stream ? unpooled(edited) : edited;
}

function addToolEdits(request: ResponsesRequest, withoutTools: readonly Span[], edits: MemberEdits): void {
  const tools = memberOf(request.members, "tools");
  if (tools === undefined) return;
  const left = withoutElements(request, tools, withoutTools);
  if (left.length > 2) {
    edits.set("tools", left);
    if (choosesHostedTool(request)) edits.set("tool_choice", '"auto"');
    return;
  }
  for (const name of ["tools", "tool_choice", "parallel_tool_calls"]) edits.set(name, null);
}

function choosesHostedTool({ body, members }: ResponsesRequest): boolean {
  const choice = memberOf(members, "tool_choice");
  if (choice === undefined || body[choice.start] !== 0x7b) return false;
  const type = memberOf(membersOf(body, choice.start), "type");
  const name = type === undefined ? undefined : valueAt(body, type);
  return typeof name === "string" && name !== "allowed_tools" && runnerOf(name) !== "client";
}

/** The array without some of its elements. The others stay byte for byte. */
function withoutElements({ body, leaps }: ResponsesRequest, array: Span, gone: readonly Span[]): Uint8Array {
  const out = new ByteWriter(array.end - array.start);
  const starts = new Set(gone.map(({ start }) => start));
  let next = "[";
  for (const start of elementsOf(body, array.start, leaps)) {
    if (starts.has(start)) continue;
    out.writeText(next);
    out.write(body.subarray(start, endOfValue(body, start, leaps)));
    next = ",";
  }
  out.writeText(next === "[" ? "[]" : "]");
  return out.finish();
}
