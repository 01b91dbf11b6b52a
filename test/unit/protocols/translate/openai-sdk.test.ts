import { Buffer } from "node:buffer";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../../../src/protocols/chat/chat-request.js";
import { ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { messageToChat } from "../../../../src/protocols/translate/message-to-chat.js";
import { MessagesToChatStream } from "../../../../src/protocols/translate/messages-to-chat-stream.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { answerContext } from "../../../support/answer-context.js";
import type { Json } from "../../../support/translate/chat-samples.js";
import { chatToMessagesRequest } from "../../../support/translate/whole-translations.js";

const head = { created: 5, model: "acme/large" };
const signature = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk=";

/** As Anthropic sends them, two calls among them. */
const events: Json[] = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude",
      content: [],
      usage: { input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "I had better look." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature } },
  { type: "content_block_stop", index: 0 },
  { type: "ping" },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Let me " } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "see." } },
  { type: "content_block_stop", index: 1 },
  {
    type: "content_block_start",
    index: 2,
    content_block: { type: "tool_use", id: "toolu_1", name: "look", input: {} },
  },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"at":' } },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '"x"}' } },
  { type: "content_block_stop", index: 2 },
  {
    type: "content_block_start",
    index: 3,
    content_block: { type: "tool_use", id: "toolu_2", name: "look", input: {} },
  },
  { type: "content_block_stop", index: 3 },
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 20 } },
  { type: "message_stop" },
];

const thinking = { type: "thinking", thinking: "I had better look.", signature };

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [
    thinking,
    { type: "text", text: "Let me see." },
    { type: "tool_use", id: "toolu_1", name: "look", input: { at: "x" } },
    { type: "tool_use", id: "toolu_2", name: "look", input: {} },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 20 },
};

function eventStream(): string {
  const stream = new MessagesToChatStream(head, answerContext({ promptTokens: 1 }));
  const chunks = events.flatMap((each) => stream.event({ event: String(each["type"]), data: JSON.stringify(each) }));
  return `${[...chunks, ...stream.end()].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
}

/** OpenAI's SDK, and the requests that an upstream of Anthropic's would get for its own. */
function clientOf(): { client: OpenAI; sent: Json[] } {
  const sent: Json[] = [];
  const answer = async (_url: unknown, init?: RequestInit) => {
    const request = atOnce(parseChatRequest(Buffer.from(String(init?.body)), 64));
    sent.push(JSON.parse(Buffer.from(chatToMessagesRequest(request, { model: "claude-sonnet-4-5" })).toString()));
    if (request.stream) return new Response(eventStream(), { headers: { "content-type": "text/event-stream" } });
    return Response.json(messageToChat(new ReceivedResponse(Buffer.from(JSON.stringify(message))), head));
  };
  return {
    client: new OpenAI({ apiKey: "sk-test", baseURL: "http://gateway.test/v1", fetch: answer, maxRetries: 0 }),
    sent,
  };
}

const ask = { model: "acme/large", messages: [{ role: "user" as const, content: "hi" }] };

const expected = {
  model: "acme/large",
  choices: [
    {
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [
          { id: "toolu_1", type: "function", function: { name: "look", arguments: '{"at":"x"}' } },
          { id: "toolu_2", type: "function", function: { name: "look", arguments: "{}" } },
        ],
      },
    },
  ],
  usage: { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60, prompt_tokens_details: { cached_tokens: 30 } },
};

describe("OpenAI's own SDK on a target that speaks Messages", () => {
  it("makes a completion of a translated stream", async () => {
    const { client } = clientOf();
    const stream = client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    expect(await stream.finalChatCompletion()).toMatchObject(expected);
  });

  it("reads a translated whole answer, and sends it back with the signature under its thinking", async () => {
    const { client, sent } = clientOf();
    const completion = await client.chat.completions.create(ask);
    expect(completion).toMatchObject(expected);
    const [first] = completion.choices;
    if (first === undefined) throw new Error("There is no answer.");
    const results = (first.message.tool_calls ?? []).map(({ id }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: "ok",
    }));
    await client.chat.completions.create({ ...ask, messages: [...ask.messages, first.message, ...results] });
    expect(sent[1]).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 4096,
      messages: [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        { role: "assistant", content: message.content },
        {
          role: "user",
          content: ["toolu_1", "toolu_2"].map((id) => ({
            type: "tool_result",
            tool_use_id: id,
            content: [{ type: "text", text: "ok" }],
          })),
        },
      ],
    });
  });
});
