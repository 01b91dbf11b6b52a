import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../../../src/protocols/chat/chat-request.js";
import { parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { messageToChat } from "../../../../src/protocols/translate/message-to-chat.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { thoughtsOf } from "../../../support/own-seal.js";
import { completions, head, type Json, translation, usage } from "../../../support/translate/chat-samples.js";
import {
  chatToMessage,
  chatToMessagesRequest,
  messagesToChatRequest,
} from "../../../support/translate/whole-translations.js";

/** Text that is not trimmed on the way. */
const text = fc.string({ unit: "grapheme", minLength: 1 }).map((words) => `a${words}z`);
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/).filter((own) => !own.startsWith("toolu_x"));
const input = fc
  .dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
  // Refused before.
  .filter((input) => !JSON.stringify(input).includes('"__proto__"'))
  .map((value) => JSON.parse(JSON.stringify(value)));

const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };

/** Turns of a user and of an assistant that calls tools, as chat completions can carry them. */
const conversation = fc
  .array(
    fc.record({
      asks: text,
      hasImage: fc.boolean(),
      says: text,
      calls: fc.array(input, { maxLength: 3 }),
      results: fc.array(text, { minLength: 3, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .chain((turns) => fc.tuple(fc.constant(turns), fc.uniqueArray(id, { minLength: 12, maxLength: 12 })))
  .map(([turns, ids]) =>
    turns.flatMap(({ asks, hasImage, says, calls, results }, turn) => {
      const uses = calls.map((value, place) => ({
        type: "tool_use",
        id: ids[turn * 3 + place],
        name: "f",
        input: value,
      }));
      const user = { role: "user", content: [{ type: "text", text: asks }, ...(hasImage ? [image] : [])] };
      const assistant = { role: "assistant", content: [{ type: "text", text: says }, ...uses] };
      const answers = uses.map((use, place) => ({
        type: "tool_result",
        tool_use_id: use.id,
        content: [{ type: "text", text: results[place] }],
      }));
      const last = { role: "assistant", content: [{ type: "text", text: "done" }] };
      return answers.length === 0 ? [user, assistant] : [user, assistant, { role: "user", content: answers }, last];
    }),
  );

describe("a conversation", () => {
  it("comes back from chat completions as it was", () => {
    fc.assert(
      fc.property(conversation, text, (messages, system) => {
        const tools = [{ name: "f", description: "d", input_schema: { type: "object", properties: { a: {} } } }];
        const tool_choice = { type: "any", disable_parallel_tool_use: true };
        const body = {
          model: "m",
          max_tokens: 50,
          messages,
          system: [{ type: "text", text: system }],
          tools,
          tool_choice,
          stop_sequences: ["x"],
          temperature: 0.5,
          stream: true,
        };
        const chat = messagesToChatRequest(atOnce(parseMessagesRequest(Buffer.from(JSON.stringify(body)), 64)), {
          thoughts: thoughtsOf("t"),
        });
        const back = chatToMessagesRequest(atOnce(parseChatRequest(chat.body, 64)), { model: "m" });
        expect(JSON.parse(Buffer.from(back).toString())).toEqual(body);
      }),
    );
  });
});

describe("an answer", () => {
  it("comes back from Messages as it was", () => {
    fc.assert(
      fc.property(completions, (completion) => {
        const own = structuredClone(completion) as { choices: [{ message: Json; finish_reason: string }] };
        const message = chatToMessage(completion, head, translation, usage);
        const back = messageToChat(new ReceivedResponse(Buffer.from(message)), {
          created: 1,
          model: "m",
        }) as typeof own;
        const { reasoning_details: _, refusal, ...found } = back.choices[0].message;
        const { content, tool_calls: calls, ...expected } = own.choices[0].message;
        expect(refusal).toBeNull();
        expect(found["content"] ?? "").toBe(content ?? "");
        const names = (all: unknown) => (all as { function: Json }[] | undefined)?.map((call) => call.function);
        expect(names(found["tool_calls"])).toEqual(names(calls));
        expect(found["reasoning_content"]).toBe(expected["reasoning_content"]);
        expect(back.choices[0].finish_reason).toBe(own.choices[0].finish_reason);
      }),
    );
  });
});
