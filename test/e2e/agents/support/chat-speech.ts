import type { TokenCounts } from "../../../../src/prices/usage-counts.js";
import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../../src/testing.js";
import type { ModelCall, ModelTurn, ServerSpeech } from "./model-turn.js";

/** A server of chat completions. */
export const chatSpeech: ServerSpeech = {
  operation: "chat/completions",
  whole: (turn) => {
    const answer = chatAnswer({
      content: turn.text ?? null,
      ...(turn.calls === undefined ? {} : { toolCalls: turn.calls.map(toChatCall) }),
      ...(turn.isCut ? { finishReason: "length" } : {}),
      usage: toChatUsage(turn.tokens),
    });
    if (turn.thought !== undefined) {
      for (const { message } of answer.choices) Object.assign(message, { reasoning_content: turn.thought });
    }
    return wholeAnswer(answer);
  },
  stream: (turn) => eventStream(streamedTurn(turn)),
};

/** The chunks of a turn, in order: thought, text, calls. */
export function streamedTurn(turn: ModelTurn): Record<string, unknown>[] {
  const chunks = chatChunks(turn.text ?? "", {
    deltas: (turn.calls ?? []).flatMap(callDeltas),
    finishReason: turn.isCut ? "length" : turn.calls === undefined ? "stop" : "tool_calls",
    usage: toChatUsage(turn.tokens),
  });
  if (turn.thought === undefined) return chunks;
  const [head, ...rest] = chunks;
  const delta = { role: "assistant", reasoning_content: turn.thought };
  return [{ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: null }] }, ...rest];
}

/** The name first and the arguments in two parts, as servers send them. */
function callDeltas(call: ModelCall, index: number) {
  const { function: whole, ...head } = toChatCall(call);
  const middle = Math.ceil(whole.arguments.length / 2);
  const parts = [whole.arguments.slice(0, middle), whole.arguments.slice(middle)];
  return [
    { tool_calls: [{ index, ...head, function: { name: whole.name, arguments: "" } }] },
    ...parts.map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
  ];
}

function toChatCall(call: ModelCall) {
  const values = "input" in call ? { input: call.input } : call.arguments;
  return { id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(values) } };
}

function toChatUsage(tokens: TokenCounts) {
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
    prompt_tokens_details: { cached_tokens: tokens.cachedInput, cache_write_tokens: tokens.cacheWrite ?? 0 },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
  };
}
