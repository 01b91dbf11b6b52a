import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { MessageStream } from "../../../../src/protocols/messages/message-stream.js";
import { messageToEvents } from "../../../../src/protocols/messages/message-to-events.js";
import { ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { answerContext } from "../../../support/answer-context.js";
import { accumulated, eventsIn } from "../../../support/translate/message-events.js";

const eventsOf = (text: string) => messageToEvents(new ReceivedResponse(Buffer.from(text)));

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [
    { type: "thinking", thinking: "hm", signature: "EqQB=" },
    { type: "text", text: "Let me see." },
    { type: "text", text: "" },
    { type: "redacted_thinking", data: "xyz" },
    { type: "tool_use", id: "toolu_1", name: "f", input: { a: 1 } },
  ],
  stop_reason: "stop_sequence",
  stop_sequence: "END",
  usage: { input_tokens: 5, output_tokens: 7 },
};

describe("a whole message for a client that waits for a stream", () => {
  it("amounts to the same", () => {
    const stream = new MessageStream(answerContext({ model: "acme/large", promptTokens: 1 }));
    const bytes = (eventsOf(JSON.stringify(message)) ?? []).map((event) => stream.event(event) ?? Buffer.alloc(0));
    expect(accumulated(eventsIn(...bytes))).toEqual({ ...message, model: "acme/large" });
    expect(stream.progress).toMatchObject({ isCounted: true, isDone: true, tokens: { input: 5, output: 7 } });
  });

  it("keeps numbers of more digits than a double has", () => {
    const text = JSON.stringify(message).replace('{"a":1}', '{"a": 12345678901234567890}');
    expect(JSON.stringify(eventsOf(text))).toContain("12345678901234567890}");
  });

  it("takes no type of a block for a member that every object has", () => {
    const content = [{ type: "constructor", text: "x" }, { type: "__proto__" }, { type: ["text"], text: "y" }];
    const events = eventsOf(JSON.stringify({ ...message, content })) ?? [];
    const types = events.map(({ event }) => event).filter((type) => type?.startsWith("content_block"));
    expect(types).toEqual(content.flatMap(() => ["content_block_start", "content_block_stop"]));
  });

  it("is an error where the server has sent one", () => {
    const error = { type: "error", error: { type: "invalid_request_error", message: "No." } };
    expect(eventsOf(JSON.stringify(error))).toEqual([{ event: "error", data: JSON.stringify(error) }]);
  });

  it.each(["[]", "no", '{"type":"error"}', '{"type":"message"}'])("is not %s", (text) => {
    expect(eventsOf(text)).toBeUndefined();
  });
});
