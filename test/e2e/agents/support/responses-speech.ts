import { Buffer } from "node:buffer";
import type { TokenCounts } from "../../../../src/prices/usage-counts.js";
import { eventStream, wholeAnswer } from "../../../../src/testing.js";
import type { ModelCall, ModelTurn, ServerSpeech } from "./model-turn.js";

type Item = Record<string, unknown> & { type: string };

/** A server of the Responses API. */
export const responsesSpeech: ServerSpeech = {
  operation: "responses",
  whole: (turn) => wholeAnswer(toResponse(turn)),
  stream: (turn) => eventStream(toEvents(turn).map(toFrame), { done: false }),
};

function toResponse(turn: ModelTurn) {
  return {
    id: "resp_upstream",
    object: "response",
    created_at: 1_700_000_000,
    status: turn.isCut ? "incomplete" : "completed",
    error: null,
    incomplete_details: turn.isCut ? { reason: "max_output_tokens" } : null,
    model: "upstream-small-2026-01-01",
    output: toItems(turn),
    parallel_tool_calls: true,
    store: false,
    tool_choice: "auto",
    tools: [],
    usage: toUsage(turn.tokens),
  };
}

function toItems({ thought, text, calls = [] }: ModelTurn): Item[] {
  const reasoning = { type: "reasoning", id: "rs_1", encrypted_content: "sealed", status: "completed" };
  const message = { type: "message", id: "msg_1", status: "completed", role: "assistant" };
  return [
    ...(thought === undefined ? [] : [{ ...reasoning, summary: [{ type: "summary_text", text: thought }] }]),
    ...(text === undefined
      ? []
      : [{ ...message, content: [{ type: "output_text", text, annotations: [], logprobs: [] }] }]),
    ...calls.map(toCallItem),
  ];
}

function toCallItem(call: ModelCall): Item {
  const shared = { status: "completed", call_id: call.id, name: call.name };
  return "input" in call
    ? { type: "custom_tool_call", id: `ctc_${call.id}`, ...shared, input: call.input }
    : { type: "function_call", id: `fc_${call.id}`, ...shared, arguments: JSON.stringify(call.arguments) };
}

/** Codex goes by the finished items alone; the deltas in between are tested with other clients. */
function toEvents(turn: ModelTurn): Item[] {
  const response = toResponse(turn);
  const begun = { ...response, status: "in_progress", incomplete_details: null, output: [], usage: null };
  const items = response.output.flatMap((item, index) => [
    { type: "response.output_item.added", output_index: index, item: { ...item, status: "in_progress" } },
    { type: "response.output_item.done", output_index: index, item },
  ]);
  const events: Item[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items,
    { type: `response.${response.status}`, response },
  ];
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}

function toFrame(event: Item): Buffer {
  return Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function toUsage(tokens: TokenCounts) {
  return {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: tokens.cachedInput, cache_write_tokens: tokens.cacheWrite ?? 0 },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.input + tokens.output,
  };
}
