import { Buffer } from "node:buffer";

const text = "The quick brown fox jumps over the lazy dog. ";

/** A whole answer of 1 KB. */
export const answerBytes = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "small",
    choices: [{ index: 0, message: { role: "assistant", content: text.repeat(17) }, finish_reason: "stop" }],
    usage: { prompt_tokens: 200, completion_tokens: 170, total_tokens: 370 },
  }),
);

/** A whole answer of 200 KB, with line breaks and quotes in its text. */
export const longAnswerBytes = Buffer.from(
  JSON.stringify({
    ...JSON.parse(answerBytes.toString()),
    choices: [
      { index: 0, message: { role: "assistant", content: `${text}"é"\n`.repeat(3900) }, finish_reason: "stop" },
    ],
  }),
);

/** 200 events of 240 bytes, each a piece of its own. */
export const eventBytes = Array.from({ length: 200 }, (_, index) =>
  chunk({ content: ` word-${index}`.padEnd(60, "x") }),
).concat(chunk({}, "stop"), [Buffer.from("data: [DONE]\n\n")]);

function chunk(delta, finishReason = null) {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "small" };
  return Buffer.from(`data: ${JSON.stringify({ ...head, choices })}\n\n`);
}

const words = Array.from({ length: 200 }, (_, index) => ` word-${index}`.padEnd(60, "x"));

/** What a server that speaks Responses sends: a whole response of 1 KB, and a stream with 200 deltas. */
export const responses = { whole: Buffer.from(JSON.stringify(response("completed"))), stream: responseEvents() };

/** The same of a server that speaks Anthropic's Messages. */
export const messages = { whole: Buffer.from(JSON.stringify(message(text.repeat(17)))), stream: messageEvents() };

function response(status, output = [item("completed", text.repeat(17))]) {
  const usage = status === "completed" ? usageOf("input", "output") : null;
  return { id: "resp_1", object: "response", created_at: 1_700_000_000, status, model: "small", output, usage };
}

function usageOf(input, output) {
  return { [`${input}_tokens`]: 200, [`${output}_tokens`]: 170, total_tokens: 370 };
}

function item(status, said) {
  const content = said === undefined ? [] : [{ type: "output_text", text: said, annotations: [], logprobs: [] }];
  return { id: "msg_1", type: "message", status, role: "assistant", content };
}

function responseEvents() {
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const all = words.join("");
  const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
  return [
    { type: "response.created", response: response("in_progress", []) },
    { type: "response.in_progress", response: response("in_progress", []) },
    { type: "response.output_item.added", output_index: 0, item: item("in_progress") },
    { type: "response.content_part.added", ...place, part },
    ...words.map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
    { type: "response.output_text.done", ...place, text: all, logprobs: [] },
    { type: "response.content_part.done", ...place, part: { ...part, text: all } },
    { type: "response.output_item.done", output_index: 0, item: item("completed", all) },
    { type: "response.completed", response: response("completed", [item("completed", all)]) },
  ].map((event, index) => framed({ ...event, sequence_number: index }));
}

function message(said) {
  const content = said === undefined ? [] : [{ type: "text", text: said }];
  const usage = { input_tokens: 200, output_tokens: said === undefined ? 1 : 170 };
  const stop = said === undefined ? null : "end_turn";
  const head = { id: "msg_1", type: "message", role: "assistant", model: "small" };
  return { ...head, content, stop_reason: stop, stop_sequence: null, usage };
}

function messageEvents() {
  return [
    { type: "message_start", message: message() },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...words.map((word) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: word } })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 170 } },
    { type: "message_stop" },
  ].map(framed);
}

function framed(event) {
  return Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const wide = "Größe und Übermaß, 大きさ. ".repeat(6000);
const asked = text.repeat(20);

/** The requests, 1 KB each: in the words of chat completions, of Responses, of Messages. */
export const requests = {
  chat: (own) => request({ messages: [{ role: "user", content: asked }], max_tokens: 500, ...own }),
  prompts: () => Array.from({ length: 6000 }, (_, index) => request(prompt(index))),
  wide: () => request({ messages: [{ role: "user", content: wide }], max_tokens: 500 }),
  agent: () => request({ messages: agentMessages(), tools: agentTools(), max_tokens: 500 }),
  responses: (own) => request({ input: asked, max_output_tokens: 500, store: false, ...own }),
  messages: (own) => request({ messages: [{ role: "user", content: asked }], max_tokens: 500, ...own }),
};

/** No two are the same, and together they are more than the counts of prompts that are remembered. */
function prompt(index) {
  const vocabulary = `${text}Please explain how each of these would behave when nothing else is known, then summarize it. `;
  const known = vocabulary.split(" ");
  const said = Array.from({ length: 160 }, (_, place) => known[(index + place * (1 + (index % 23))) % known.length]);
  return { messages: [{ role: "user", content: `Question ${index}: ${said.join(" ")}` }], max_tokens: 500 };
}

function request(members) {
  return Buffer.from(JSON.stringify({ model: "acme/small", ...members }));
}

const source = `export function readEntries(text: string): Entry[] {
\tconst entries: Entry[] = [];
\tfor (const line of text.split("\\n")) {
\t\tconst [name = "", value] = line.split("=");
\t\tif (name !== "" && value !== undefined) entries.push({ name, value: JSON.parse(\`"\${value}"\`) });
\t}
\treturn entries;
}

`;

/** What a coding agent has gathered after 46 calls of its tools: 200 KB, most of it source code. */
function agentMessages() {
  const turns = Array.from({ length: 46 }, (_, index) => {
    const id = `call_${index}`;
    const path = `src/entries/read-entries-${index}.ts`;
    const edit = JSON.stringify({ path, old_string: source, new_string: source.repeat(1 + (index % 3)) });
    const call = { id, type: "function", function: { name: "edit_file", arguments: edit } };
    return [
      { role: "assistant", content: `I look at ${path}.`, tool_calls: [call] },
      { role: "tool", tool_call_id: id, content: source.repeat(4 + (index % 7)) },
    ];
  });
  return [{ role: "system", content: text.repeat(250) }, { role: "user", content: "Mend the tests." }, ...turns.flat()];
}

function agentTools() {
  const parameter = { type: "string", description: "An absolute path, within the folder that is open." };
  return Array.from({ length: 30 }, (_, index) => ({
    type: "function",
    function: {
      name: `tool_${index}`,
      description: text.repeat(8),
      parameters: {
        type: "object",
        properties: { path: parameter, pattern: parameter, lines: { type: "integer", minimum: 1 } },
        required: ["path", "pattern"],
        additionalProperties: false,
      },
    },
  }));
}
