import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import type { ModelResponse } from "../../../../src/prices/progress.js";
import { toMessageResponse } from "../../../../src/protocols/messages/message-response.js";
import { ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { answerContext } from "../../../support/answer-context.js";

function answer(text: string): ModelResponse | undefined {
  return toMessageResponse(new ReceivedResponse(Buffer.from(text)), answerContext({ model: "acme/large" }));
}

const bodyOf = (text: string) => Buffer.from(answer(text)?.body ?? "").toString();

describe("a whole message", () => {
  it("gets the client's name for the model, and stays as it is else", () => {
    const text =
      '{"id":"msg_1", "type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking",' +
      '"thinking":"h\\u00e9","signature":"abc="},{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":12345678901234567890,"a":1.0}}],' +
      '"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_read_input_tokens":30,' +
      '"cache_creation_input_tokens":5,"output_tokens":20,"output_tokens_details":{"thinking_tokens":4},"service_tier":"standard"},"new":[1.50]}';
    expect(bodyOf(text)).toBe(text.replace('"claude-sonnet-4-5"', '"acme/large"'));
    expect(answer(text)).toMatchObject({
      estimated: false,
      responseId: "msg_1",
      finishReason: "tool_calls",
      tokens: { input: 45, cachedInput: 30, cacheWrite: 5, output: 20, reasoning: 4 },
    });
  });

  it("gets the counts without which clients fail", () => {
    const text =
      '{"type":"message","model":"x","content":[{"type":"text","text":"123456789"}],"stop_reason":"end_turn"}';
    expect(JSON.parse(bodyOf(text)).usage).toMatchObject({ input_tokens: 7, output_tokens: 9 });
    expect(answer(text)).toMatchObject({ estimated: true, tokens: { input: 7, output: 9 } });
  });

  it("counts no less than its iterations say, where the whole does not say how much came out", () => {
    const iterations = [{ type: "compaction", input_tokens: 500, output_tokens: 300 }];
    const text = JSON.stringify({
      ...{ type: "message", model: "x", content: [{ type: "text", text: "123456789" }], stop_reason: "end_turn" },
      usage: { input_tokens: 20, output_tokens_details: { thinking_tokens: 400 }, iterations },
    });
    expect(answer(text)).toMatchObject({ estimated: true, tokens: { input: 500, output: 400, reasoning: 400 } });
  });

  it.each(['{"type":"error","error":{}}', '{"choices":[]}', "[]", "<html>", '{"type":"message","content":"x"}'])(
    "is not %s",
    (text) => {
      expect(answer(text)).toBeUndefined();
    },
  );
});
