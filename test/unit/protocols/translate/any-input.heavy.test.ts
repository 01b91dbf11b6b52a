import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/errors/gateway-error.js";
import { StreamFault } from "../../../../src/errors/upstream-fault.js";
import { parseChatRequest } from "../../../../src/protocols/chat/chat-request.js";
import { MessageStream } from "../../../../src/protocols/messages/message-stream.js";
import { parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { ChatToMessagesStream } from "../../../../src/protocols/translate/chat-to-messages-stream.js";
import { messageToChat } from "../../../../src/protocols/translate/message-to-chat.js";
import { MessagesToChatStream } from "../../../../src/protocols/translate/messages-to-chat-stream.js";
import { atOnce, wholeOutgoing } from "../../../../src/wire/slices.js";
import { answerContext } from "../../../support/answer-context.js";
import { thoughtsOf } from "../../../support/own-seal.js";
import { head, type Json, translation, usage } from "../../../support/translate/chat-samples.js";
import { eventsIn } from "../../../support/translate/message-events.js";
import {
  chatToMessage,
  chatToMessagesRequest,
  messagesToChatRequest,
} from "../../../support/translate/whole-translations.js";

const json = fc.jsonValue({ maxDepth: 2 });

/** An object of the right names, with values that are right, or anything else. */
function objectOf(names: readonly string[], values: fc.Arbitrary<unknown>): fc.Arbitrary<Json> {
  return fc.dictionary(fc.constantFrom(...names), fc.oneof(values, json), { maxKeys: names.length });
}

const words = fc.constantFrom(
  "a",
  "",
  "  ",
  "toolu_xYQ",
  "data:image/png;base64,AAAA",
  "https://x.test/a",
  "{",
  "{}",
  "ig1.e30",
  "none",
  "high",
  "length",
  "stop",
);
const types = fc.constantFrom(
  ...[
    "text",
    "image",
    "document",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "search_result",
    "image_url",
    "file",
    "refusal",
  ],
  ...[
    "base64",
    "url",
    "content",
    "function",
    "custom",
    "any",
    "auto",
    "tool",
    "enabled",
    "adaptive",
    "json_schema",
    "ephemeral",
    "reasoning.text",
  ],
);
const chatRoles = ["user", "assistant", "system", "tool", "developer", "function"];
const messagesRoles = ["user", "assistant", "user", "assistant", "system"];
const names = [
  "type",
  "text",
  "source",
  "content",
  "id",
  "tool_use_id",
  "is_error",
  "name",
  "input",
  "thinking",
  "signature",
  "data",
  "title",
  "media_type",
  "url",
  "image_url",
  "file",
  "file_data",
  "filename",
  "function",
  "arguments",
  "index",
  "refusal",
  "extra_content",
  "cache_control",
];
const leaf = objectOf(names, fc.oneof(words, types));
const block = objectOf(names, fc.oneof(words, types, leaf, fc.array(leaf, { maxLength: 2 })));
const content = fc.oneof(words, fc.array(fc.oneof(block, json), { maxLength: 4 }));
const messageOf = (roles: readonly string[]) =>
  fc.record(
    {
      role: fc.constantFrom(...roles),
      content,
      tool_calls: fc.array(block, { maxLength: 2 }),
      function_call: leaf,
      tool_call_id: words,
      reasoning_details: fc.array(block, { maxLength: 2 }),
      reasoning_content: words,
      refusal: words,
    },
    { requiredKeys: ["role"] },
  );
const message = messageOf(chatRoles);
const requestOf = (roles: readonly string[]) =>
  fc
    .record(
      {
        messages: fc.array(messageOf(roles), { minLength: 1, maxLength: 5 }),
        tools: fc.oneof(fc.array(block, { maxLength: 2 }), json),
        functions: fc.oneof(fc.array(block, { maxLength: 2 }), json),
        tool_choice: fc.oneof(words, block, json),
        thinking: fc.oneof(objectOf(["type", "budget_tokens", "display"], types), json),
        output_config: fc.oneof(objectOf(["effort", "format"], fc.oneof(words, block)), json),
        response_format: fc.oneof(objectOf(["type", "json_schema"], fc.oneof(types, block)), json),
        system: fc.oneof(words, fc.array(block, { maxLength: 2 }), json),
        stop: fc.oneof(words, fc.array(words), json),
        stop_sequences: fc.oneof(fc.array(words), json),
        reasoning_effort: fc.oneof(words, json),
        reasoning: fc.oneof(objectOf(["effort", "max_tokens"], words), json),
        temperature: json,
        top_p: json,
        stream: fc.boolean(),
      },
      { requiredKeys: ["messages"] },
    )
    .map((body) =>
      Buffer.from(JSON.stringify({ model: "m", max_tokens: 2000, ...body }).replaceAll("__proto__", "proto")),
    );

/** What it gives, or nothing where it is refused as it may be. */
function unless<T>(refusal: typeof GatewayError | typeof StreamFault, run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof refusal || (refusal === StreamFault && error instanceof GatewayError)) return undefined;
    throw error;
  }
}

describe("whatever comes in", () => {
  it("is a request for a chat completion that can be read, or refused", () => {
    let count = 0;
    fc.assert(
      fc.property(requestOf(messagesRoles), (bytes) => {
        const parsed = unless(GatewayError, () => atOnce(parseMessagesRequest(bytes, 64)));
        const own =
          parsed &&
          unless(GatewayError, () => messagesToChatRequest(parsed, { thoughts: thoughtsOf("t"), reasoning: true }));
        if (own === undefined) return;
        count++;
        expect(atOnce(parseChatRequest(own.body, 80)).model).toBe("m");
      }),
      { numRuns: 1000 },
    );
    expect(count).toBeGreaterThan(10);
  });

  it("is a request for a message that can be read, or refused", () => {
    let count = 0;
    fc.assert(
      fc.property(requestOf(chatRoles), (bytes) => {
        const parsed = unless(GatewayError, () => atOnce(parseChatRequest(bytes, 64)));
        const own =
          parsed && unless(GatewayError, () => chatToMessagesRequest(parsed, { model: "m", maxOutputTokens: 9000 }));
        if (own === undefined) return;
        count++;
        const { maxTokens, body } = atOnce(parseMessagesRequest(own, 80));
        expect(maxTokens).toBe(2000);
        const roleOf = ({ role }: Json) => role;
        const turns = (JSON.parse(Buffer.from(body).toString()) as { messages: Json[] }).messages.map(roleOf);
        expect(turns[0]).toBe("user");
        for (const [index, role] of turns.entries()) expect(role).not.toBe(turns[index + 1]);
      }),
      { numRuns: 1000 },
    );
    expect(count).toBeGreaterThan(10);
  });

  const choice = fc.record(
    {
      index: fc.oneof(fc.constant(0), json),
      delta: fc.oneof(message, json),
      finish_reason: fc.oneof(words, json),
      message: fc.oneof(message, json),
    },
    { requiredKeys: [] },
  );
  const anyChunk = fc.record({ choices: fc.oneof(fc.array(fc.oneof(choice, json), { maxLength: 2 }), json) });

  it("is a stream of Messages in good order, or a fault", () => {
    fc.assert(
      fc.property(fc.array(anyChunk, { maxLength: 8 }), (chunks) => {
        const stream = new ChatToMessagesStream(head, translation);
        const bytes = [stream.begin()];
        const isWhole = unless(StreamFault, () => {
          for (const each of chunks) bytes.push(wholeOutgoing(stream.chunk(structuredClone(each))));
          bytes.push(wholeOutgoing(stream.end(usage)));
          return true;
        });
        const events = eventsIn(...bytes);
        let open: unknown;
        let next = 0;
        for (const { type, index } of events) {
          if (type === "content_block_start") {
            expect(open).toBeUndefined();
            expect(index).toBe(next++);
            open = index;
          } else if (type.startsWith("content_block")) {
            expect(index).toBe(open);
            if (type === "content_block_stop") open = undefined;
          }
        }
        if (isWhole) expect(events.at(-1)).toEqual({ type: "message_stop" });
      }),
      { numRuns: 500 },
    );
  });

  it("is a whole message in JSON, or a fault", () => {
    fc.assert(
      fc.property(anyChunk, (completion) => {
        const body = unless(StreamFault, () => chatToMessage(structuredClone(completion), head, translation, usage));
        if (body !== undefined) expect(JSON.parse(body)).toMatchObject({ type: "message", content: expect.any(Array) });
      }),
      { numRuns: 500 },
    );
  });

  const event = fc.record(
    {
      type: fc.constantFrom(
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "new",
      ),
      index: fc.oneof(fc.constantFrom(0, 1), json),
      message: fc.oneof(objectOf(["id", "model", "usage"], words), json),
      content_block: fc.oneof(block, json),
      delta: fc.oneof(objectOf(["type", "text", "thinking", "partial_json", "signature", "stop_reason"], words), json),
      usage: fc.oneof(objectOf(["input_tokens", "output_tokens"], fc.nat(99)), json),
    },
    { requiredKeys: ["type"] },
  );

  it("is a stream of chat completions, or a fault", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        const stream = new MessagesToChatStream({ created: 1, model: "m" }, answerContext({ promptTokens: 5 }));
        unless(StreamFault, () => {
          for (const each of events) {
            const chunks = stream.event({ event: each.type, data: JSON.stringify(each) });
            for (const chunk of chunks)
              expect(chunk).toMatchObject({ object: "chat.completion.chunk", choices: expect.any(Array) });
          }
          stream.end();
        });
        const { tokens: counted } = stream.progress;
        for (const count of Object.values(counted)) expect(count).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  it("passes as it came where Messages are spoken, but for what carries the model or a count", () => {
    fc.assert(
      fc.property(event, (own) => {
        const stream = new MessageStream(answerContext({ model: "m", promptTokens: 5 }));
        const data = JSON.stringify(own, null, 1).replaceAll("\n", "");
        const bytes = unless(StreamFault, () => stream.event({ event: own.type, data }));
        if (bytes === undefined) return;
        const [line, text] = Buffer.from(bytes).toString().split("\ndata: ");
        expect(line).toBe(`event: ${own.type}`);
        const mayCount = own.type === "message_start" || own.type === "message_delta" || isObject(own.usage);
        if (!mayCount) expect(text).toBe(`${data}\n\n`);
        else
          expect({ ...JSON.parse(text ?? ""), message: 0, usage: 0 }).toEqual({
            ...JSON.parse(data),
            message: 0,
            usage: 0,
          });
      }),
      { numRuns: 500 },
    );
  });

  it("is a chat completion, or none", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          json,
          fc.record({
            type: fc.constant("message"),
            content: fc.array(fc.oneof(block, json), { maxLength: 3 }),
            stop_reason: words,
          }),
        ),
        (answer) => {
          const completion = messageToChat(new ReceivedResponse(Buffer.from(JSON.stringify(answer))), {
            created: 1,
            model: "m",
          });
          if (completion !== undefined) expect(completion["choices"]).toHaveLength(1);
        },
      ),
    );
  });
});

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
