import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer, chatChunks } from "../../../src/testing.js";
import { smallModel } from "../../support/test-gateway.js";
import type { ServerOptions } from "./start-server.js";

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
export const toolResponse = chatAnswer({
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

/** As sloppy servers send it: no role, no type, no `arguments` at first, the calls one after the other. */
export const sloppyToolChunks = toolChunks
  .filter((_chunk, position) => position > 0)
  .map((chunk) => JSON.parse(JSON.stringify(chunk).replace(/"type":"function",|,"arguments":""/g, "")));

function toolDelta(index: number, { id, ...fields }: { id?: string; name?: string; arguments: string }) {
  return { tool_calls: [{ index, ...(id === undefined ? undefined : { id, type: "function" }), function: fields }] };
}

export const reasoningResponse = {
  ...chatAnswer({ usage: reasoningUsage() }),
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "Yes.", reasoning_content: "Because it is so." },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
};

/** The reasoning comes before the text. */
export const reasoningChunks = chatChunks("", {
  usage: reasoningUsage(),
  deltas: [{ reasoning_content: "Because " }, { reasoning_content: "it is so." }, { content: "Ye" }, { content: "s." }],
});

function reasoningUsage() {
  return {
    prompt_tokens: 9,
    completion_tokens: 6,
    total_tokens: 15,
    completion_tokens_details: { reasoning_tokens: 4 },
  };
}

/** Two answers to one request. */
export const twoAnswers = {
  ...chatAnswer(),
  choices: ["First", "Second"].map((content, index) => ({
    index,
    message: { role: "assistant", content },
    logprobs: null,
    finish_reason: "stop",
  })),
};

/** The same as a stream, in turn. */
export const twoAnswersChunks = [
  ...[{ role: "assistant", content: "" }, { content: "Fir" }, { content: "st" }].flatMap((delta, step) => [
    choiceChunk(0, delta),
    choiceChunk(1, step === 0 ? delta : { content: step === 1 ? "Sec" : "ond" }),
  ]),
  choiceChunk(1, {}, "stop"),
  choiceChunk(0, {}, "stop"),
  ...chatChunks("").slice(-1),
];

function choiceChunk(index: number, delta: object, finishReason: string | null = null) {
  return { ...chatChunks("")[0], choices: [{ index, delta, logprobs: null, finish_reason: finishReason }] };
}

/** A pixel. */
export const imageBase64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What servers other than OpenAI's know, and clients let through. */
export const extraParameters = {
  top_k: 40,
  min_p: 0.05,
  chat_template_kwargs: { enable_thinking: false },
  provider: { order: ["one", "two"], allow_fallbacks: false },
};

/** A quarter of a credit for each call, and one credit to spend in each session. */
export function oneCredit(sessionMs?: number): ServerOptions {
  return {
    models: [{ ...smallModel, price: { input: 0, output: 0, request: 0.25 } }],
    plans: memoryPlanStore({
      pro: { models: ["acme/*"], credits: { session: 1 }, ...(sessionMs === undefined ? undefined : { sessionMs }) },
      basic: { models: ["acme/small"] },
    }),
  };
}
