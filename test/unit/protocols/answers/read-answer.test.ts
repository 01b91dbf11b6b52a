import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatResponses } from "../../../../src/protocols/chat/chat-completions.js";
import { messagesAnswers } from "../../../../src/protocols/messages/messages.js";
import { responsesAnswers } from "../../../../src/protocols/responses/responses.js";
import {
  type ResponseFormat,
  readAnswer,
  readStreamedResponse,
} from "../../../../src/protocols/shared/response-format.js";

function textsOf(format: ResponseFormat, events: readonly object[]): Record<string, string[]> {
  const stream = events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const found: Record<string, string[]> = {};
  for (const { path, text } of readStreamedResponse(format, Buffer.from(stream)).texts) {
    found[path] = [...(found[path] ?? []), text];
  }
  return found;
}

const delta = (members: object, index = 0) => ({ choices: [{ index, delta: members }] });

describe("a stream of chunks", () => {
  it("has the texts of lists put together, by their index or their type", () => {
    const detail = (text: string, at?: number) =>
      delta({ reasoning_details: [{ type: "reasoning.text", text, ...(at === undefined ? {} : { index: at }) }] });
    expect(textsOf(chatResponses, [detail("se", 0), detail("x", 1), detail("cret", 0)])).toEqual({
      "choices[0].message.reasoning_details[0].text": ["secret"],
      "choices[0].message.reasoning_details[1].text": ["x"],
    });
    expect(textsOf(chatResponses, [detail("se"), detail("cret")])).toEqual({
      "choices[0].message.reasoning_details[0].text": ["secret"],
    });
  });

  it("is not confused by names of members, or by what is no chunk", () => {
    const events = `data: {"choices":[{"delta":{"__proto__":{"content":"a"},"constructor":"b","content":"c"}}]}\n\n`;
    const { texts } = readStreamedResponse(chatResponses, Buffer.from(`: x\n\ndata: 1\n\n${events}data: [DONE]\n\n`));
    expect(texts.map(({ text }) => text)).toEqual(["a", "b", "c"]);
    expect({}).not.toHaveProperty("content");
  });

  it("amounts to the same texts as the whole answer, however it is split", () => {
    const name = fc.constantFrom("content", "reasoning_content", "refusal");
    const pieces = fc.array(fc.record({ index: fc.nat(2), name, text: fc.string({ unit: "grapheme" }) }));
    fc.assert(
      fc.property(pieces, (said) => {
        const whole = new Map<string, string>();
        for (const { index, name: member, text } of said) {
          const key = `${index} ${member}`;
          whole.set(key, (whole.get(key) ?? "") + text);
        }
        const events = said.map(({ index, name: member, text }) => delta({ [member]: text }, index));
        const found = Object.values(textsOf(chatResponses, events)).flat();
        expect(found.toSorted()).toEqual([...whole.values()].filter((text) => text !== "").toSorted());
      }),
    );
  });
});

describe("a stream of a response", () => {
  const place = { output_index: 0, content_index: 0 };
  const part = (text: string) => ({ type: "output_text", text });

  it("has texts that come as deltas alone, and those that differ", () => {
    const events = [
      { type: "response.output_text.delta", ...place, delta: "se" },
      { type: "response.output_text.delta", ...place, delta: "cret" },
      { type: "response.output_text.done", ...place, text: "done" },
      { type: "response.content_part.done", ...place, part: part("part") },
      { type: "response.output_item.done", output_index: 0, item: { type: "message", content: [part("item")] } },
      { type: "response.reasoning_summary_text.delta", output_index: 1, summary_index: 0, delta: "thought" },
      { type: "response.mcp_call_arguments.delta", output_index: 2, delta: "{}" },
      { type: "response.custom_tool_call_input.delta", output_index: 3, delta: "in" },
      { type: "response.completed", response: { status: "completed", output: [] } },
    ];
    expect(textsOf(responsesAnswers, events)).toEqual({
      "output[0].content[0].text": ["done", "part", "item", "secret"],
      "output[1].summary[0].text": ["thought"],
      "output[2].arguments": ["{}"],
      "output[3].input": ["in"],
    });
  });

  it("has texts of events that do not say where they belong", () => {
    const events = [
      { type: "response.created", response: { status: "in_progress", output: [] } },
      { type: "response.output_text.delta", delta: "se" },
      { type: "response.output_text.delta", delta: "cret" },
      { type: "response.function_call_arguments.done", arguments: "{}" },
      { type: "response.output_item.done", item: { type: "message", content: [part("item")] } },
      { type: "response.completed", response: { status: "completed", output: [] } },
    ];
    expect(textsOf(responsesAnswers, events)).toEqual({
      "output.text": ["secret"],
      "output.arguments": ["{}"],
      "output.content[0].text": ["item"],
    });
  });

  it("names a text once where all agree", () => {
    const item = { id: "msg_1", type: "message", role: "assistant", content: [part("secret")] };
    const events = [
      { type: "response.output_text.delta", ...place, delta: "secret" },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { output: [item] } },
    ];
    expect(textsOf(responsesAnswers, events)).toEqual({ "output[0].content[0].text": ["secret"] });
  });
});

describe("a stream of a message", () => {
  const block = (index: number, type: string, members: object) => ({
    type: "content_block_start",
    index,
    content_block: { type, ...members },
  });
  const grow = (index: number, type: string, members: object) => ({
    type: "content_block_delta",
    index,
    delta: { type, ...members },
  });

  it("has thoughts, and the strings in the inputs of tools", () => {
    const events = [
      { type: "message_start", message: { id: "msg_1", content: [] } },
      block(0, "thinking", { thinking: "", signature: "" }),
      grow(0, "thinking_delta", { thinking: "se" }),
      grow(0, "thinking_delta", { thinking: "cret" }),
      grow(0, "signature_delta", { signature: "AAAA" }),
      block(1, "tool_use", { id: "toolu_1", name: "find", input: {} }),
      grow(1, "input_json_delta", { partial_json: '{"a":["\\u0073ec' }),
      grow(1, "input_json_delta", { partial_json: 'ret"]}' }),
      block(2, "tool_use", { id: "toolu_2", name: "cut", input: {} }),
      grow(2, "input_json_delta", { partial_json: '{"a":"sec' }),
      block(3, "redacted_thinking", { data: "AAAA" }),
    ];
    expect(textsOf(messagesAnswers, events)).toEqual({
      "content[0].thinking": ["secret"],
      "content[1].name": ["find"],
      "content[1].input.a[0]": ["secret"],
      "content[2].name": ["cut"],
      "content[2].input": ['{"a":"sec'],
    });
  });
});

describe("a refused answer", () => {
  const formats: [string, ResponseFormat, object][] = [
    [
      "a completion",
      chatResponses,
      {
        id: "chatcmpl-1",
        model: "m",
        citations: ["SECRET"],
        choices: [{ index: 0, message: { content: "SECRET" }, logprobs: { content: [{ token: "SECRET" }] } }],
      },
    ],
    [
      "a response",
      responsesAnswers,
      { id: "resp_1", model: "m", output_text: "SECRET", output: [{ type: "message", content: "SECRET" }] },
    ],
    [
      "a message",
      messagesAnswers,
      { id: "msg_1", model: "m", container: { id: "SECRET" }, content: [{ type: "text", text: "SECRET" }] },
    ],
  ];

  it.each(formats)("of %s has nothing of what the model wrote, and reads as one", (_, format, answer) => {
    const { json } = readAnswer(format, JSON.stringify(answer));
    const refused = format.refused(json, "No.");
    expect(JSON.stringify(refused)).not.toContain("SECRET");
    expect(refused).toMatchObject({ model: "m" });
    const whole = readAnswer(format, JSON.stringify(refused));
    const streamed = readStreamedResponse(format, format.toStream(refused));
    const words = new Set([...whole.texts, ...streamed.texts].map(({ text }) => text));
    expect([...words]).toContain("No.");
    expect(words.size).toBe(1);
    expect(streamed.finishReasons).toEqual(whole.finishReasons);
  });
});
