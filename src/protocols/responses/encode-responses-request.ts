import { ByteWriter } from "../../wire/bytes.js";
import { type Edited, editText, keptText, spliceText } from "../../wire/edited-bytes.js";
import {
  editMembers,
  elementsOf,
  endOfValue,
  type JsonMember,
  type MemberEdits,
  memberOf,
  membersOf,
  skipSpace,
  valueAt,
} from "../../wire/json-members.js";
import { cutOtherCaps } from "../shared/demand.js";
import type { Span } from "../shared/message-outline.js";
import type { InputItem } from "./input-outline.js";
import { isOwnItemId, isOwnThought } from "./own-items.js";
import { type ResponsesRequest, responsesCaps } from "./responses-request.js";
import { runnerOf, type ToolSpan } from "./tool-kinds.js";

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
function withoutElements({ body, skips }: ResponsesRequest, array: Span, gone: readonly Span[]): Uint8Array {
  const starts = new Set(gone.map(({ start }) => start));
  const left = elementsOf(body, array.start, skips).filter((start) => !starts.has(start));
  return writeArray(
    left.map((start) => body.subarray(start, endOfValue(body, start, skips))),
    array.end - array.start,
  );
}

/** Far more than an honest choice lists, and than its objects have members. A longer one stays as it is. */
const mostListed = 2048;
const mostMembers = 64;

/**
 * What a request's `tool_choice` becomes where tools are removed, as JSON: servers refuse the choice of a tool that is not
 * listed. `undefined`: it stays.
 */
function choiceWithoutTools(
  { body, skips, members, tools }: ResponsesRequest,
  gone: readonly ToolSpan[],
): string | Uint8Array | undefined {
  const choice = memberOf(members, "tool_choice");
  if (choice === undefined || body[choice.start] !== 0x7b) return undefined;
  const removed = new Set(gone);
  const left = new Set(tools.filter((tool) => !removed.has(tool)).map(({ type }) => type));
  const typeAt = (start: number) => {
    const type = body[start] === 0x7b ? memberOf(membersOf(body, start, mostMembers, skips), "type") : undefined;
    return type === undefined ? undefined : valueAt(body, type);
  };
  const isGone = (type: unknown) => typeof type === "string" && runnerOf(type) !== "client" && !left.has(type);
  const type = typeAt(choice.start);
  if (type !== "allowed_tools") return isGone(type) ? '"auto"' : undefined;

  const own = body.subarray(choice.start, choice.end);
  const ownMembers = membersOf(own, 0, mostMembers);
  const list = memberOf(ownMembers, "tools");
  if (ownMembers.length > mostMembers || list === undefined || own[list.start] !== 0x5b) return undefined;
  const starts = elementsOf(body, choice.start + list.start, skips, mostListed);
  if (starts.length > mostListed) return undefined;
  const kept = starts.filter((start) => !isGone(typeAt(start)));
  if (kept.length === starts.length) return undefined;
  if (kept.length === 0) return '"none"';
  const elements = kept.map((start) => body.subarray(start, endOfValue(body, start, skips)));
  return editMembers(own, ownMembers, new Map([["tools", writeArray(elements, list.end - list.start)]]));
}

/** An array of these elements, as JSON. @param size - what will probably be needed. */
function writeArray(elements: readonly Uint8Array[], size: number): Uint8Array {
  const out = new ByteWriter(size);
  let next = "[";
  for (const element of elements) {
    out.writeText(next);
    out.write(element);
    next = ",";
  }
  out.writeText(next === "[" ? "[]" : "]");
  return out.finish();
}
