import { Buffer } from "node:buffer";
import type { TokenCounts } from "../../../../src/prices/usage-counts.js";
import { eventStream, wholeAnswer } from "../../../../src/testing.js";
import type { ModelCall, ModelTurn, ServerSpeech } from "./model-turn.js";

type Block = Record<string, unknown> & { type: string };

/** A server of Anthropic's Messages. */
export const messagesSpeech: ServerSpeech = {
  operation: "messages",
  whole: (turn) => wholeAnswer(toMessage(turn)),
  stream: (turn) => eventStream(toEvents(turn).map(toFrame), { done: false }),
};

function toMessage(turn: ModelTurn) {
  const stopReason = turn.isCut ? "max_tokens" : turn.calls === undefined ? "end_turn" : "tool_use";
  return {
    id: "msg_upstream",
    type: "message",
    role: "assistant",
    model: "upstream-small-20260101",
    content: toBlocks(turn),
    stop_reason: stopReason,
    stop_sequence: null,
    usage: toUsage(turn.tokens),
  };
}

function toBlocks({ thought, text, calls = [] }: ModelTurn): Block[] {
  return [
    ...(thought === undefined ? [] : [{ type: "thinking", thinking: thought, signature: "sealed" }]),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...calls.map(toCallBlock),
  ];
}

function toCallBlock(call: ModelCall): Block {
  return {
    type: "tool_use",
    id: call.id,
    name: call.name,
    input: "input" in call ? { input: call.input } : call.arguments,
  };
}

function toEvents(turn: ModelTurn): Block[] {
  const { content, stop_reason, stop_sequence, usage, ...message } = toMessage(turn);
  const begun = { ...message, content: [], stop_reason: null, stop_sequence, usage: { ...usage, output_tokens: 1 } };
  return [
    { type: "message_start", message: begun },
    { type: "ping" },
    ...content.flatMap(toBlockEvents),
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage: { output_tokens: usage.output_tokens } },
    { type: "message_stop" },
  ];
}

function toBlockEvents(block: Block, index: number): Block[] {
  const delta = (members: Block) => ({ type: "content_block_delta", index, delta: members });
  const around = (empty: Record<string, unknown>, ...deltas: Block[]) => [
    { type: "content_block_start", index, content_block: { ...block, ...empty } },
    ...deltas,
    { type: "content_block_stop", index },
  ];
  switch (block.type) {
    case "thinking":
      return around(
        { thinking: "", signature: "" },
        delta({ type: "thinking_delta", thinking: block["thinking"] }),
        delta({ type: "signature_delta", signature: block["signature"] }),
      );
    case "text":
      return around({ text: "" }, delta({ type: "text_delta", text: block["text"] }));
    default:
      return around({ input: {} }, delta({ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }));
  }
}

function toFrame(event: Block): Buffer {
  return Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function toUsage({ input, cachedInput, cacheWrite = 0, output }: TokenCounts) {
  return {
    input_tokens: input - cachedInput - cacheWrite,
    cache_read_input_tokens: cachedInput,
    cache_creation_input_tokens: cacheWrite,
    output_tokens: output,
  };
}
