import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { badGateway, GatewayError } from "../../../../src/errors/gateway-error.js";
import { parseChatRequest } from "../../../../src/protocols/chat/chat-request.js";
import { anthropicErrorBody } from "../../../../src/protocols/messages/anthropic-error.js";
import { anthropicModelList } from "../../../../src/protocols/messages/anthropic-protocol.js";
import { MessageStream } from "../../../../src/protocols/messages/message-stream.js";
import { messagesEvent } from "../../../../src/protocols/messages/message-to-events.js";
import { tokenCountBody } from "../../../../src/protocols/messages/messages-prompt-tokens.js";
import { parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { ChatToMessagesStream } from "../../../../src/protocols/translate/chat-to-messages-stream.js";
import { messageToChat } from "../../../../src/protocols/translate/message-to-chat.js";
import { atOnce, wholeOutgoing } from "../../../../src/wire/slices.js";
import { answerContext } from "../../../support/answer-context.js";
import { thoughtsOf } from "../../../support/own-seal.js";
import { called, chunk, head, type Json, translation, usage } from "../../../support/translate/chat-samples.js";
import {
  chatToMessage,
  chatToMessagesRequest,
  messagesToChatRequest,
} from "../../../support/translate/whole-translations.js";

type Handler = (request: { body: Buffer; url: string }, response: ServerResponse) => void;

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** The SDK, and a server that answers it. */
async function clientOf(handler: Handler): Promise<Anthropic> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    handler({ body: Buffer.from(await textOf(request)), url: request.url ?? "" }, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return new Anthropic({ apiKey: "sk-test", authToken: null, baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
}

/** Answers with bytes as events, in pieces that end anywhere. */
function sendEvents(response: ServerResponse, bytes: readonly Uint8Array[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const all = Buffer.concat(bytes);
  for (let at = 0; at < all.length; at += 37) response.write(all.subarray(at, at + 37));
  response.end();
}

const chunks = [
  chunk({ role: "assistant", content: "" }),
  chunk({ reasoning_content: "I had better " }),
  chunk({ reasoning_content: "look." }),
  chunk({ content: "Let me " }),
  chunk({ content: "see. ✓" }),
  chunk(called(0, "functions.Bash:0", "Bash", "")),
  chunk(called(1, "b", "Read", '{"file')),
  chunk(called(0, undefined, undefined, '{"command":"ls"}')),
  chunk(called(1, undefined, undefined, '":"a.txt"}')),
  chunk({}, "tool_calls"),
];

const ask = { model: "acme/large", max_tokens: 100, messages: [{ role: "user" as const, content: "hi" }] };
const thinking = { type: "adaptive" as const };

const expected = {
  id: "msg_own1",
  model: "acme/large",
  stop_reason: "tool_use",
  usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 20 },
  content: [
    { type: "thinking", thinking: "I had better look.", signature: expect.stringMatching(/^ig1\./) },
    { type: "text", text: "Let me see. ✓" },
    { type: "tool_use", id: expect.stringMatching(/^toolu_x/), name: "Bash", input: { command: "ls" } },
    { type: "tool_use", id: "b", name: "Read", input: { file: "a.txt" } },
  ],
};

function translatedStream(): Uint8Array[] {
  const stream = new ChatToMessagesStream(head, translation);
  const begun = [stream.begin(), stream.keepAlive];
  const sent = chunks.map((each) => wholeOutgoing(stream.chunk(structuredClone(each))));
  return [...begun, ...sent, stream.keepAlive, wholeOutgoing(stream.end(usage))];
}

describe("Anthropic's own SDK", () => {
  it("makes a message of a translated stream", async () => {
    const client = await clientOf((_, response) => sendEvents(response, translatedStream()));
    const texts: string[] = [];
    const stream = client.messages.stream({ ...ask, thinking }).on("text", (text) => texts.push(text));
    expect(await stream.finalMessage()).toMatchObject(expected);
    expect(texts).toEqual(["Let me ", "see. ✓"]);
  });

  it("reads a translated whole message, and sends it back for the next turn", async () => {
    const bodies: Json[] = [];
    const client = await clientOf(({ body }, response) => {
      const { body: chat } = messagesToChatRequest(atOnce(parseMessagesRequest(body, 64)), {
        thoughts: thoughtsOf("t1"),
      });
      atOnce(parseChatRequest(chat, 64));
      bodies.push(JSON.parse(Buffer.from(chat).toString()));
      const message = {
        role: "assistant",
        content: "Let me see. ✓",
        reasoning_content: "I had better look.",
        tool_calls: [
          { id: "functions.Bash:0", type: "function", function: { name: "Bash", arguments: '{"command":"ls"}' } },
          { id: "b", type: "function", function: { name: "Read", arguments: '{"file":"a.txt"}' } },
        ],
      };
      const completion = { choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(chatToMessage(completion, head, translation, usage));
    });
    const message = await client.messages.create({ ...ask, thinking });
    expect(message).toMatchObject(expected);
    const results = message.content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "ok" }] : [],
    );
    await client.messages.create({
      ...ask,
      messages: [...ask.messages, { role: "assistant", content: message.content }, { role: "user", content: results }],
    });
    expect(bodies[1]?.["messages"]).toMatchObject([
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: "Let me see. ✓",
        reasoning_content: "I had better look.",
        tool_calls: [{ id: "functions.Bash:0", function: { arguments: '{"command":"ls"}' } }, { id: "b" }],
      },
      { role: "tool", tool_call_id: "functions.Bash:0", content: "ok" },
      { role: "tool", tool_call_id: "b", content: "ok" },
    ]);
  });

  it("reads a stream that passes as it came", async () => {
    const client = await clientOf((_, response) => {
      const stream = new MessageStream(answerContext({ model: "acme/large", promptTokens: 1 }));
      const events: Json[] = [
        {
          type: "message_start",
          message: {
            id: "msg_1",
            type: "message",
            role: "assistant",
            model: "claude",
            content: [],
            usage: { input_tokens: 5, output_tokens: 1 },
          },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 7 } },
      ];
      const bytes = events.map(
        (event) => stream.event({ event: undefined, data: JSON.stringify(event) }) ?? Buffer.alloc(0),
      );
      sendEvents(response, [...bytes, stream.end()]);
    });
    expect(await client.messages.stream(ask).finalMessage()).toMatchObject({
      model: "acme/large",
      content: [{ type: "text", text: "hello" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 5, output_tokens: 7 },
    });
  });

  it("fails where the stream has failed", async () => {
    const client = await clientOf((_, response) => {
      const stream = new ChatToMessagesStream(head, translation);
      const error = badGateway("The model did not answer.");
      sendEvents(response, [
        wholeOutgoing(stream.chunk(chunk({ content: "so f" }))),
        stream.fault(error),
        stream.fault(error),
      ]);
    });
    await expect(client.messages.stream(ask).finalMessage()).rejects.toThrow("The model did not answer.");
    const raw = await client.messages.create({ ...ask, stream: true });
    const drain = async () => {
      for await (const _ of raw);
    };
    await expect(drain()).rejects.toMatchObject({ error: { error: { type: "api_error" } } });
  });

  it("fails where a stream breaks off, rather than to take it for whole", async () => {
    const client = await clientOf((_, response) => {
      sendEvents(response, [
        wholeOutgoing(new ChatToMessagesStream(head, translation).chunk(chunk({ content: "so f" }))),
        messagesEvent("ping", '{"type":"ping"}'),
      ]);
    });
    await expect(client.messages.stream(ask).finalMessage()).rejects.toThrow();
  });

  it("reads an error with its status, type and request", async () => {
    const client = await clientOf((_, response) => {
      const error = new GatewayError("Used up.", { status: 429, code: "week_limit_exceeded" });
      response.writeHead(429, { "content-type": "application/json", "request-id": "req_9" });
      response.end(anthropicErrorBody(error, "req_9"));
    });
    await expect(client.messages.create(ask)).rejects.toMatchObject({
      status: 429,
      requestID: "req_9",
      type: "rate_limit_error",
      error: { error: { message: "Used up.", code: "week_limit_exceeded" } },
    });
  });

  it("counts tokens, and lists models", async () => {
    const models = Array.from({ length: 45 }, (_, at) => ({
      id: `acme/${at}`,
      contextLength: 10,
      created: 1_767_225_600,
    }));
    const client = await clientOf(({ url }, response) => {
      const { pathname } = new URL(url, "http://x.test");
      response.writeHead(200, { "content-type": "application/json" });
      response.end(pathname === "/v1/models" ? anthropicModelList(models) : tokenCountBody(12));
    });
    expect(await client.messages.countTokens({ model: ask.model, messages: ask.messages })).toEqual({
      input_tokens: 12,
    });
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(models.map(({ id }) => id));
  });

  it("sends what a target of chat completions, and one of Messages behind it, can have", async () => {
    const seen: Json[] = [];
    const client = await clientOf(({ body }, response) => {
      const { body: chat } = messagesToChatRequest(atOnce(parseMessagesRequest(body, 64)), {
        thoughts: thoughtsOf("t1"),
      });
      const native = chatToMessagesRequest(atOnce(parseChatRequest(chat, 64)), { model: "claude-sonnet-4-5" });
      seen.push(JSON.parse(Buffer.from(native).toString()));
      const message = {
        id: "msg_1",
        type: "message",
        model: "claude",
        content: [{ type: "text", text: "hello" }],
        stop_reason: "end_turn",
        usage: { input_tokens: 5, output_tokens: 7 },
      };
      const completion = messageToChat(new ReceivedResponse(Buffer.from(JSON.stringify(message))), {
        created: 1,
        model: "m",
      });
      response.writeHead(200, { "content-type": "application/json" });
      response.end(chatToMessage(completion ?? {}, head, translation, usage));
    });
    const image = {
      type: "image" as const,
      source: { type: "base64" as const, media_type: "image/png" as const, data: "AAAA" },
    };
    const found = await client.messages.create({
      ...ask,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "f", description: "d", input_schema: { type: "object", properties: {} } }],
      tool_choice: { type: "tool", name: "f" },
      messages: [{ role: "user", content: [image, { type: "text", text: "what?" }] }],
    });
    expect(found).toMatchObject({ content: [{ type: "text", text: "hello" }], stop_reason: "end_turn" });
    expect(seen[0]).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      messages: [{ role: "user", content: [image, { type: "text", text: "what?" }] }],
      system: [{ type: "text", text: "Be brief." }],
      tools: [{ name: "f", description: "d", input_schema: { type: "object", properties: {} } }],
      tool_choice: { type: "tool", name: "f" },
    });
  });
});
