import { Buffer } from "node:buffer";
import { ByteWriter } from "../../wire/bytes.js";
import { editMembers, type MemberEdits, memberOf } from "../../wire/json-members.js";
import { textSteps } from "../../wire/json-steps.js";
import { SliceCount, type Steps, stepInTurns, valueBytes } from "../../wire/slices.js";
import { conversationTooLong, itemNotFound } from "./conversation-errors.js";
import type { InputItem } from "./input-outline.js";
import type { ResponsesRequest } from "./responses-request.js";

/** The items that a request refers to, as JSON. */
interface ReferredItems {
  /** Input and output of the previous response, and of those before it, in order. */
  readonly earlier: readonly string[];
  /** By the ids that `item_reference` items contain. */
  readonly referenced: ReadonlyMap<string, string>;
}

/** The ids of the items that the input refers to. */
export function referencedIds({ items }: ResponsesRequest): string[] {
  return (items ?? []).flatMap(({ type, id }) => (type === "item_reference" && id !== undefined ? [id] : []));
}

/**
 * Replaces all references by the items that they refer to, so that the request is complete. It must then be parsed
 * again. Everything else stays byte for byte. It works in slices.
 * @param maxBytes - of the result. A request of a few bytes can refer to the same large item a thousand times.
 * @throws GatewayError 400 `item_not_found` for a reference to an unknown item, and 400 for a result of more bytes. A
 * reference to unknown reasoning is removed.
 */
export function expandInput(request: ResponsesRequest, referred: ReferredItems, maxBytes: number): Promise<Uint8Array> {
  return stepInTurns(expandSteps(request, referred, maxBytes));
}

function* expandSteps(
  request: ResponsesRequest,
  { earlier, referenced }: ReferredItems,
  maxBytes: number,
): Steps<Uint8Array> {
  const { body, members, items } = request;
  const out = new ByteWriter(body.length);
  const count = new SliceCount();
  let next = "[";
  const add = function* (item: Uint8Array | string): Steps<void> {
    if (out.length + item.length > maxBytes) throw conversationTooLong(request, maxBytes);
    out.writeText(next);
    next = ",";
    if (typeof item === "string") yield* textSteps(out, item, count);
    else out.write(item);
    if (count.isFull(typeof item === "string" ? valueBytes : item.length)) yield;
  };
  for (const item of earlier) yield* add(item);
  for (const [index, item] of (items ?? []).entries()) {
    const found = item.type === "item_reference" ? referenced.get(item.id ?? "") : body.subarray(item.start, item.end);
    if (found !== undefined) yield* add(found);
    else if (!isReasoning(item)) throw itemNotFound(item.id ?? "", index);
  }
  const input = memberOf(members, "input");
  if (input !== undefined && body[input.start] === 0x22) {
    yield* add(userMessage(body.subarray(input.start, input.end)));
  }
  out.writeText(next === "[" ? "[]" : "]");
  const edits: MemberEdits = new Map();
  edits.set("input", out.finish());
  edits.set("previous_response_id", null);
  const expanded = editMembers(body, members, edits);
  if (expanded.length > maxBytes) throw conversationTooLong(request, maxBytes);
  return expanded;
}

/** The items of a request's input, as JSON. A text becomes a message. */
export function inputItems({ body, members, items }: ResponsesRequest): Uint8Array[] {
  if (items !== undefined) return items.map(({ start, end }) => body.subarray(start, end));
  const input = memberOf(members, "input");
  if (input === undefined || body[input.start] !== 0x22) return [];
  return [userMessage(body.subarray(input.start, input.end))];
}

function userMessage(text: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('{"type":"message","role":"user","content":'), text, Buffer.from("}")]);
}

/** Without its reasoning items, a conversation still has all its texts. */
function isReasoning({ id }: InputItem): boolean {
  return id?.startsWith("rs_") === true;
}
