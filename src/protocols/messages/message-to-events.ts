import { Buffer } from "node:buffer";
import { asBuffer } from "../../wire/bytes.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { elementsOf, memberOf, membersOf } from "../../wire/json-members.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { requireFewParts } from "../shared/response-bounds.js";
import { readReport } from "../shared/usage-tally.js";

/** An event before it is written. */
type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** What of a block comes in a delta, and what stands there before. */
const pieces: ReadonlyMap<unknown, readonly (readonly [member: string, delta: string])[]> = new Map([
  ["text", [["text", "text_delta"]]],
  [
    "thinking",
    [
      ["thinking", "thinking_delta"],
      ["signature", "signature_delta"],
    ],
  ],
]);

/**
 * A whole message as the events of a stream, for upstreams that do not stream although they were asked to. An error that
 * came in its place is the event of one.
 * @returns `undefined` when it is neither.
 */
export function messageToEvents(received: ReceivedResponse): ServerSentEvent[] | undefined {
  const message = received.json;
  if (isRecord(message) && isRecord(message["error"])) return [{ event: "error", data: JSON.stringify(message) }];
  if (!isRecord(message) || message["type"] !== "message" || !Array.isArray(message["content"])) return undefined;
  const { content, stop_reason: reason, stop_sequence: sequence = null, stop_details: details, ...head } = message;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  requireFewParts(blocks, () => readReport(message["usage"], true)?.tokens);
  const inputs = rawInputs(received.bytes);
  const ended = {
    stop_reason: reason ?? "end_turn",
    stop_sequence: sequence,
    ...(details != null && { stop_details: details }),
  };
  return [
    { type: "message_start", message: { ...head, content: [], stop_reason: null, stop_sequence: null } },
    ...blocks.flatMap((block, index) => (isRecord(block) ? blockEvents(block, index, inputs[index]) : [])),
    { type: "message_delta", delta: ended, usage: message["usage"] },
    { type: "message_stop" },
  ].map((event) => ({ event: event.type, data: JSON.stringify(event) }));
}

function blockEvents(block: Record<string, unknown>, index: number, input: string | undefined): Event[] {
  const begun = { ...block };
  const deltas: Record<string, unknown>[] = [];
  for (const [member, delta] of pieces.get(block["type"]) ?? []) {
    if (typeof block[member] !== "string") continue;
    begun[member] = "";
    if (block[member] !== "") deltas.push({ type: delta, [member]: block[member] });
  }
  if (input !== undefined) {
    begun["input"] = {};
    deltas.push({ type: "input_json_delta", partial_json: input });
  }
  const start = { type: "content_block_start", index, content_block: begun };
  const grown = deltas.map((delta) => ({ type: "content_block_delta", index, delta }));
  return [start, ...grown, { type: "content_block_stop", index }];
}

/** The inputs of tools as they were written, by the places of their blocks. */
function rawInputs(bytes: Uint8Array): readonly (string | undefined)[] {
  const content = memberOf(membersOf(bytes), "content");
  if (content === undefined) return [];
  return elementsOf(bytes, content.start).map((block) => {
    const input = bytes[block] === 0x7b ? memberOf(membersOf(bytes, block), "input") : undefined;
    return input === undefined ? undefined : asBuffer(bytes).toString("utf8", input.start, input.end);
  });
}

/** Keeps a connection open. Every client of Anthropic's knows it. */
export const pingEvent: Uint8Array = messagesEvent("ping", '{"type":"ping"}');

/** A server-sent event of a stream of messages. Clients skip events without their name. @param json - without line breaks. */
export function messagesEvent(name: string, json: string): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${json}\n\n`);
}
