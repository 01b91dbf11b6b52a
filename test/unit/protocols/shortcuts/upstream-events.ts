import { type AnyEvents, raw } from "./any-stream.js";

const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };

const oddNumbers = ["012", "1e3", "12345678901234567890", "123456789012345", "", "-0", "5.0", "00", "0"];

/** So long that it is left out where events are read without their long texts. */
const long = (word: string) => `${word} ${"a long text. ".repeat(180)}${word}`;

const message = (text: string) => ({
  ...{ id: "msg_1", type: "message", status: "completed", role: "assistant" },
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});

export const responsesEvents: AnyEvents = {
  begin: [
    { type: "response.created", sequence_number: 0, response: { id: "r", model: "up", status: "in_progress" } },
    { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: { id: "msg_1", type: "message" } },
  ],
  runs: [
    (delta, obfuscation, sequence_number) => ({
      ...{ type: "response.output_text.delta", ...place, delta, logprobs: [], sequence_number, obfuscation },
    }),
    (delta, _padding, sequence_number) => ({ type: "response.output_text.delta", sequence_number, ...place, delta }),
    (delta) => ({ type: "response.output_text.delta", ...place, delta }),
    (delta, _padding, number) => ({ type: "response.output_text.delta", delta, sequence_number: number / 2 }),
    (delta, _padding, number) => ({
      ...{ type: "response.output_text.delta", ...place, delta },
      sequence_number: number % 4 === 3 ? raw(oddNumbers[number % oddNumbers.length] ?? "") : number,
    }),
    (delta, _padding, number) => ({ type: "response.output_text.delta", delta, sequence_number: -number }),
    (delta, _padding, sequence_number) => ({ type: "response.reasoning_text.delta", ...place, delta, sequence_number }),
    (delta, _padding, sequence_number) => ({
      type: "response.output_text.delta",
      output_index: 1,
      delta,
      sequence_number,
    }),
    (text, _padding, sequence_number) => ({
      ...{ type: "response.output_item.done", output_index: 2, sequence_number, item: { type: "message", text } },
    }),
    (delta, _padding, number) => ({ type: "response.in_progress", delta, response: { id: "r", model: "up", number } }),
    (word, _padding, sequence_number) => ({
      ...{ type: "response.output_text.done", ...place, text: long(word), logprobs: [], sequence_number },
    }),
    (word, _padding, number) => ({ type: "response.refusal.done", ...place, refusal: long(word), delta: word, number }),
    (word, _padding, number) => ({
      type: `response.output_item.${number % 3 === 0 ? "added" : "done"}`,
      ...{ output_index: number % 2, sequence_number: number, item: message(long(word)) },
    }),
    (word, _padding, sequence_number) => ({
      ...{ type: "response.output_item.done", output_index: 0, sequence_number },
      item: { id: "rs_1", type: "reasoning", summary: [], encrypted_content: long(word) },
    }),
    (word, _padding, sequence_number) => ({
      ...{ type: "response.in_progress", sequence_number },
      response: { id: "r", model: "up", instructions: long(word), previous_response_id: word, usage },
    }),
    (word, _padding, number) => ({
      type: "response.in_progress",
      response: { id: "r", [["model", "usage", "status", "x"][number % 4] ?? ""]: long(word), instructions: long("") },
    }),
    (word, _padding, number) =>
      number % 2 === 0
        ? { type: "error", message: long(word) }
        : { type: "response.in_progress", response: { error: { message: long(word) }, usage } },
  ],
  end: [
    {
      type: "response.completed",
      sequence_number: 5000,
      response: { id: "r", model: "up", status: "completed", output: [message(long("end"))], usage },
    },
  ],
};

const block = (delta: object, index = 0) => ({ type: "content_block_delta", index, delta });

export const messagesEvents: AnyEvents = {
  begin: [
    {
      type: "message_start",
      message: { id: "msg_1", type: "message", role: "assistant", model: "up", content: [], usage },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  ],
  runs: [
    (text) => block({ type: "text_delta", text }),
    (text) => block({ text, type: "text_delta" }),
    (text, extra) => block({ type: "text_delta", text, extra }),
    (text) => block({ type: "text_delta", text, thinking: "the same" }),
    (thinking) => block({ type: "thinking_delta", thinking }),
    (signature) => block({ type: "signature_delta", signature }),
    (partial_json) => block({ type: "input_json_delta", partial_json }),
    (text, _padding, number) => block({ type: "text_delta", text }, number % 2),
    (text) => ({ type: "content_block_start", index: 0, content_block: { type: "text", text } }),
    () => ({ type: "content_block_stop", index: 0 }),
  ],
  end: [
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ],
};

const chunk = (delta: object, finish: string | null = null, own: object = {}) => ({
  ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 5, model: "up" },
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...own,
});

export const chatEvents: AnyEvents = {
  begin: [chunk({ role: "assistant", content: "" })],
  runs: [
    (content) => chunk({ content }),
    (content) => chunk({ role: "assistant", content }),
    (content, obfuscation) => chunk({ content }, null, { obfuscation, usage: null }),
    (content) => chunk({ content, reasoning_content: null }),
    (reasoning_content) => chunk({ content: null, reasoning_content }),
    (reasoning) => chunk({ reasoning }),
    (content, service_tier) => chunk({ content }, null, { service_tier }),
    (content) => ({ id: "chatcmpl-1", choices: [{ index: 1, delta: { content } }] }),
    (refusal) => chunk({ refusal }),
    (content) => chunk({ content, annotations: [] }),
    (argument) => chunk({ tool_calls: [{ index: 0, id: "call_1", function: { name: "f", arguments: argument } }] }),
  ],
  end: [chunk({}, "stop"), { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }],
};
