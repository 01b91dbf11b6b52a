import { chatAnswer, chatChunks } from "../support/fake-upstream.js";

export const weatherTool = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "The weather in a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

const call = (id: string, city: string) => ({
  id,
  type: "function" as const,
  function: { name: "weather", arguments: JSON.stringify({ city }) },
});

/** A whole answer with two tool calls. */
export const toolAnswer = chatAnswer({
  content: null,
  toolCalls: [call("call_1", "Paris"), call("call_2", "Oslo")],
  finishReason: "tool_calls",
});

/** The same as a stream: the calls alternate, their arguments come in pieces. */
export const toolChunks = chatChunks("", {
  finishReason: "tool_calls",
  deltas: [
    toolDelta(0, { id: "call_1", name: "weather", arguments: "" }),
    toolDelta(1, { id: "call_2", name: "weather", arguments: "" }),
    toolDelta(0, { arguments: '{"ci' }),
    toolDelta(1, { arguments: '{"city":' }),
    toolDelta(0, { arguments: 'ty":"Paris"}' }),
    toolDelta(1, { arguments: '"Oslo"}' }),
  ],
});

function toolDelta(index: number, { id, ...fields }: { id?: string; name?: string; arguments: string }) {
  return { tool_calls: [{ index, ...(id === undefined ? undefined : { id, type: "function" }), function: fields }] };
}
