import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, jsonSchema, streamText, type ToolSet } from "ai";
import { describe, expect, it } from "vitest";
import { ChatToMessagesStream } from "../../../../src/protocols/translate/chat-to-messages-stream.js";
import { wholeOutgoing } from "../../../../src/wire/slices.js";
import { called, chunk, head, translation, usage } from "../../../support/translate/chat-samples.js";
import { chatToMessage } from "../../../support/translate/whole-translations.js";

const chunks = [
  chunk({ role: "assistant", content: "" }),
  chunk({ reasoning_content: "hm" }),
  chunk({ content: "Let me see." }),
  chunk(called(0, "a:0", "look", "")),
  chunk(called(0, undefined, undefined, '{"at":"x"}')),
  chunk(called(1, "b", "look", '{"at":"y"}')),
  chunk({}, "tool_calls"),
];

const tools: ToolSet = { look: { description: "Looks.", inputSchema: jsonSchema({ type: "object" }) } };

function modelOf(answer: () => Response) {
  const provider = createAnthropic({
    apiKey: "sk-test",
    baseURL: "http://gateway.test/v1",
    fetch: async () => answer(),
  });
  return provider("acme/large");
}

describe.each([undefined, "2026-10-21"])("the AI SDK, which checks all that it reads, with version %s", (version) => {
  const own = { ...head, version };

  it("reads a translated stream", async () => {
    const model = modelOf(() => {
      const stream = new ChatToMessagesStream(own, translation);
      const bytes = [
        stream.begin(),
        stream.keepAlive,
        ...chunks.map((each) => stream.chunk(structuredClone(each))),
        stream.end(usage),
      ];
      return new Response(Buffer.concat(bytes.map(wholeOutgoing)), {
        headers: { "content-type": "text/event-stream" },
      });
    });
    const errors: unknown[] = [];
    const result = streamText({
      model,
      prompt: "hi",
      maxOutputTokens: 100,
      tools,
      onError: ({ error }) => void errors.push(error),
    });
    await result.consumeStream();
    expect(errors).toEqual([]);
    expect(await result.text).toBe("Let me see.");
    expect(await result.reasoningText).toBe("hm");
    expect((await result.toolCalls).map(({ input }) => input)).toEqual([{ at: "x" }, { at: "y" }]);
    expect(await result.finishReason).toBe("tool-calls");
    expect(await result.usage).toMatchObject({ inputTokens: 100, cachedInputTokens: 40, outputTokens: 20 });
  });

  it("reads a translated whole message", async () => {
    const message = { content: "Hello.", reasoning_content: "hm" };
    const completion = { choices: [{ index: 0, message, finish_reason: "length" }] };
    const model = modelOf(() => Response.json(JSON.parse(chatToMessage(completion, own, translation, usage))));
    const result = await generateText({ model, prompt: "hi", maxOutputTokens: 100 });
    expect([result.text, result.reasoningText, result.finishReason]).toEqual(["Hello.", "hm", "length"]);
    expect(result.usage).toMatchObject({ inputTokens: 100, cachedInputTokens: 40, outputTokens: 20 });
  });
});
