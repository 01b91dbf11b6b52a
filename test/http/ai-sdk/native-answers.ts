import { type EventStreamOptions, eventStream, type FakeAnswer, wholeAnswer } from "../../../src/testing.js";

type Json = Record<string, unknown>;

/** Anthropic's usage: what was read from the cache, or written to it, comes on top of the input. */
export const anthropicUsage = {
  input_tokens: 10,
  cache_creation_input_tokens: 3,
  cache_read_input_tokens: 7,
  output_tokens: 5,
};

/** A whole message of Anthropic's. */
export function anthropicMessage(content: Json[], stopReason = "end_turn"): FakeAnswer {
  return wholeAnswer({
    type: "message",
    id: "msg_1",
    model: "claude-test",
    role: "assistant",
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: anthropicUsage,
  });
}

/** Events of Anthropic's stream, each with its name. */
export function anthropicEvents(events: Json[]): string[] {
  return events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** The same message as a stream; texts and arguments come in the given pieces. */
export function anthropicStream(
  blocks: { start: Json; deltas: Json[] }[],
  stopReason: string | null = "end_turn",
  options: EventStreamOptions = {},
): FakeAnswer {
  const { output_tokens: _output, ...input } = anthropicUsage;
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-test", content: [] };
  const events: Json[] = [
    { type: "message_start", message: { ...message, stop_reason: null, usage: { ...input, output_tokens: 1 } } },
  ];
  for (const [index, { start, deltas }] of blocks.entries()) {
    events.push({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  }
  if (stopReason !== null) {
    const delta = { stop_reason: stopReason, stop_sequence: null };
    events.push({ type: "message_delta", delta, usage: { output_tokens: 5 } }, { type: "message_stop" });
  }
  return eventStream(anthropicEvents(events), { done: false, ...options });
}

export function textBlock(...pieces: string[]) {
  return { start: { type: "text", text: "" }, deltas: pieces.map((text) => ({ type: "text_delta", text })) };
}

export function toolBlock(id: string, name: string, ...pieces: string[]) {
  return {
    start: { type: "tool_use", id, name, input: {} },
    deltas: pieces.map((text) => ({ type: "input_json_delta", partial_json: text })),
  };
}

export function thinkingBlock(signature: string, ...pieces: string[]) {
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...pieces.map((text) => ({ type: "thinking_delta", thinking: text })),
      { type: "signature_delta", signature },
    ],
  };
}

export function anthropicError(type: string, message: string) {
  return { type: "error", error: { type, message } };
}

/** Google's usage: thoughts come on top of the candidates. */
export const googleUsage = {
  promptTokenCount: 20,
  cachedContentTokenCount: 8,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 4,
  totalTokenCount: 29,
};

/** One answer of Google's, or one piece of a stream. */
export function googleContent(parts: Json[], finishReason?: string) {
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason ? { finishReason } : {}) }],
    ...(finishReason ? { usageMetadata: googleUsage } : {}),
  };
}

export function googleStream(pieces: Json[], options: EventStreamOptions = {}): FakeAnswer {
  return eventStream(pieces, { done: false, ...options });
}

export function googleError(code: number, status: string, message: string) {
  return { error: { code, status, message } };
}
