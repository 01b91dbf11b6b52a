import type { Span } from "../../../model-api/prompt/message-outline.js";
import { cutOtherCaps } from "../../../model-api/request/other-caps.js";
import { type Edited, editText, keptText, spliceText } from "../../../wire/edited-bytes.js";
import {
  editMembers,
  elementsOf,
  endOfValue,
  type JsonMember,
  type MemberEdits,
  memberOf,
  membersOf,
  skipSpace,
} from "../../../wire/json-members.js";
import type { InputItem } from "../input-outline.js";
import { isOwnItemId } from "../item-ids.js";
import { isOwnThought } from "../own-thoughts.js";
import { type ResponsesRequest, responsesCaps } from "../responses-request.js";
import type { ToolSpan } from "../tool-kinds.js";
import { choiceWithoutTools } from "./choice-without-tools.js";
import { writeArray } from "./write-array.js";

/** A target that speaks the Responses API itself. */
export interface NativeTarget {
  readonly model: string;
  /** No cap above it is sent. */
  readonly maxOutputTokens: number | undefined;
  /** The cap of a request that names none. */
  readonly addedCap?: number | undefined;
  /** Members to remove. What the gateway itself sets is sent all the same. */
  readonly dropped?: readonly string[] | undefined;
  /** Tools to remove. */
  readonly withoutTools?: readonly ToolSpan[] | undefined;
}

/**
 * The request for the upstream. It has the upstream's name for the model and an output cap within the model's limit. It
 * stores nothing, and contains no ids of the gateway and no reasoning that the server cannot read. Everything else stays
 * byte for byte. References must be replaced before: see `expandInput`.
 */
export function encodeResponsesRequest(request: ResponsesRequest, target: NativeTarget): Edited {
  const edited = editedBody(request, target);
  // The copy is kept until the response has ended.
  return request.stream ? keptText(edited) : edited;
}

function editedBody(request: ResponsesRequest, target: NativeTarget): Edited {
  const { body, members, store } = request;
  const { model, dropped = [], withoutTools = [] } = target;
  const input = inputForUpstream(request);
  const keepsMembers = dropped.length === 0 && withoutTools.length === 0 && input === undefined && !store;
  if (keepsMembers && keepsCaps(request, target) && memberOf(members, "previous_response_id") === undefined) {
    const { start, end } = memberOf(members, "model") as JsonMember;
    return spliceText(body, start, end, JSON.stringify(model));
  }
  const edits: MemberEdits = new Map();
  for (const name of dropped) edits.set(name, null);
  edits.set("model", JSON.stringify(model));
  edits.set("store", "false");
  edits.set("previous_response_id", null);
  addCapEdits(request, target, edits);
  if (input !== undefined) edits.set("input", input);
  if (withoutTools.length > 0) addToolEdits(request, withoutTools, edits);
  return editText(body, members, edits);
}

/** The output cap for the upstream. */
function capOf({ maxOutputTokens: own }: ResponsesRequest, target: NativeTarget): number | undefined {
  return own === undefined ? target.addedCap : Math.min(own, target.maxOutputTokens ?? own);
}

function keepsCaps(request: ResponsesRequest, target: NativeTarget): boolean {
  return !request.namesOtherCap && capOf(request, target) === request.maxOutputTokens;
}

function addCapEdits(request: ResponsesRequest, target: NativeTarget, edits: MemberEdits): void {
  const { maxOutputTokens: most = Number.POSITIVE_INFINITY } = target;
  const { maxOutputTokens: own } = request;
  const cap = capOf(request, target);
  // A server that refuses the member gets none.
  if (cap !== own && !edits.has("max_output_tokens")) edits.set("max_output_tokens", String(cap));
  if (request.namesOtherCap) cutOtherCaps(request, responsesCaps, most, edits);
}

/** `undefined` where the input stays as it is. */
function inputForUpstream({ body, members, items }: ResponsesRequest): Uint8Array | undefined {
  if (items === undefined) return undefined;
  const input = memberOf(members, "input");
  const isOwn = ({ id }: InputItem) => id !== undefined && isOwnItemId(id);
  if (input === undefined || !items.some((item) => isOwn(item) || isUnreadable(body, item))) return undefined;
  const left = items.filter((item) => !isUnreadable(body, item));
  const texts = left.map((item) => {
    const { start, end } = item;
    if (!isOwn(item)) return body.subarray(start, end);
    return editMembers(body.subarray(start, end), membersOf(body.subarray(start, end)), withoutId);
  });
  return writeArray(texts, input.end - input.start);
}

/** Servers refuse ids that do not look like their own. */
const withoutId: MemberEdits = new Map([["id", null]]);

/** Thoughts that only the gateway can read, or only the server that has made them, and that keeps nothing. */
function isUnreadable(body: Uint8Array, item: InputItem): boolean {
  if (item.type !== "reasoning") return false;
  const { encrypted, contents } = item;
  if (isOwnThought(body, item)) return true;
  const isEmpty = encrypted === undefined || body[encrypted.start] !== 0x22 || encrypted.end - encrypted.start === 2;
  return isEmpty && !contents.some(({ start }) => body[start] === 0x5b && body[skipSpace(body, start + 1)] !== 0x5d);
}

function addToolEdits(request: ResponsesRequest, withoutTools: readonly ToolSpan[], edits: MemberEdits): void {
  const tools = memberOf(request.members, "tools");
  if (tools === undefined) return;
  const left = withoutElements(request, tools, withoutTools);
  if (left.length > 2) {
    edits.set("tools", left);
    const choice = choiceWithoutTools(request, withoutTools);
    if (choice !== undefined) edits.set("tool_choice", choice);
    return;
  }
  for (const name of ["tools", "tool_choice", "parallel_tool_calls"]) edits.set(name, null);
}

/** The array without some of its elements. The others stay byte for byte. */
function withoutElements({ body, leaps }: ResponsesRequest, array: Span, gone: readonly Span[]): Uint8Array {
  const starts = new Set(gone.map(({ start }) => start));
  const left = elementsOf(body, array.start, leaps).filter((start) => !starts.has(start));
  return writeArray(
    left.map((start) => body.subarray(start, endOfValue(body, start, leaps))),
    array.end - array.start,
  );
}
