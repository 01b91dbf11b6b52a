import { Buffer } from "node:buffer";
import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import { ByteWriter } from "../../wire/bytes.js";
import { editMembers, type MemberEdits, memberOf } from "../../wire/json-members.js";
import { textSteps } from "../../wire/json-steps.js";
import { SliceCount, type Steps, stepInTurns, valueBytes } from "../../wire/slices.js";
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

/** A 400 for a conversation that is larger than a request may be. */
export function conversationTooLong(
  { previousResponseId }: Pick<ResponsesRequest, "previousResponseId">,
  maxBytes: number,
): GatewayError {
  const message = `The conversation is larger than ${maxBytes} bytes. Begin a new one, or send fewer items.`;
  return invalidValue(previousResponseId === undefined ? "input" : "previous_response_id", message);
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

/**
 * A 400 for a reference to an item that is not kept.
 * @param why - a sentence, where it is known.
 */
export function itemNotFound(id: string, index: number, why?: string): GatewayError {
  return new GatewayError(
    because(
      `Item with id '${id.slice(0, 200)}' not found.`,
      why,
      "Send the items themselves as input; with the AI SDK, set providerOptions.openai.store to false.",
    ),
    { status: 400, code: "item_not_found", param: `input[${index}].id` },
  );
}

/**
 * A 400 for a request that continues a response that is not kept.
 * @param why - a sentence, where it is known.
 */
export function previousResponseNotFound(id: string, why?: string): GatewayError {
  return new GatewayError(
    because(
      `Previous response with id '${id.slice(0, 200)}' not found.`,
      why,
      "Send the items of the conversation as input.",
    ),
    { status: 400, code: "previous_response_not_found", param: "previous_response_id" },
  );
}

/**
 * A 404 for a response that is not kept, or belongs to another account.
 * @param why - a sentence, where it is known.
 */
export function responseNotFound(id: string, why?: string): GatewayError {
  const message = because(`Response with id '${id.slice(0, 200)}' not found.`, why);
  return new GatewayError(message, { status: 404, code: "not_found" });
}

function because(...sentences: (string | undefined)[]): string {
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}
