import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { chatLayout } from "../../../../src/protocols/chat/chat-completions.js";
import { messagesLayout } from "../../../../src/protocols/messages/messages.js";
import { responsesLayout } from "../../../../src/protocols/responses/responses.js";
import { inputLayout, type PromptLayout } from "../../../../src/protocols/shared/prompt-layout.js";
import { findPromptTexts } from "../../../../src/protocols/shared/prompt-texts.js";

/** Lines such as `user messages[0].content: Hi`. */
function textsOf(request: object | string, layout: PromptLayout): string[] {
  const body = Buffer.from(typeof request === "string" ? request : JSON.stringify(request));
  return findPromptTexts(body, layout).map(({ path, role, start, end }) => {
    return `${role} ${path}: ${JSON.parse(body.toString("utf8", start, end))}`;
  });
}

describe("the texts of a prompt", () => {
  it("are those of a chat, and not its ids, URLs and files", () => {
    const request = {
      model: "m",
      user: "not a text",
      messages: [
        { content: "Be kind.", role: "system" },
        {
          role: "user",
          name: "ann",
          content: [
            { type: "text", text: "Look:" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
            { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
            { type: "file", file: { filename: "a.pdf", file_data: "AAAA" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          refusal: "No.",
          tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"q":"x"}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "sunny" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "f",
            description: "Finds.",
            parameters: { type: "object", properties: { description: { type: "string", description: "What." } } },
          },
        },
      ],
      stop: ["END"],
    };
    expect(textsOf(request, chatLayout)).toEqual([
      "system messages[0].content: Be kind.",
      "user messages[1].content[0].text: Look:",
      "user messages[1].content[3].file.filename: a.pdf",
      "assistant messages[2].refusal: No.",
      'assistant messages[2].tool_calls[0].function.arguments: {"q":"x"}',
      "tool messages[3].content: sunny",
      "system tools[0].function.description: Finds.",
      "system tools[0].function.parameters.properties.description.description: What.",
    ]);
  });

  it("are those of a message, with all that a tool is called with", () => {
    const request = {
      model: "m",
      max_tokens: 5,
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral", ttl: "5m" } }],
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "c2ln" },
            { type: "redacted_thinking", data: "c2ln" },
            { type: "tool_use", id: "t1", name: "f", input: { type: "a", "b c": ["d", { url: "e" }] } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "sunny" }] },
            { type: "document", source: { data: "plain", type: "text", media_type: "text/plain" }, title: "T" },
            { type: "image", source: { data: "AAAA", type: "base64", media_type: "image/png" } },
          ],
        },
      ],
      tools: [{ name: "f", description: "Finds.", input_schema: { type: "object" } }],
    };
    expect(textsOf(request, messagesLayout)).toEqual([
      "system system[0].text: Be kind.",
      "user messages[0].content: Hi",
      "assistant messages[1].content[0].thinking: Hm.",
      "assistant messages[1].content[2].input.type: a",
      'assistant messages[1].content[2].input["b c"]: b c',
      'assistant messages[1].content[2].input["b c"][0]: d',
      'assistant messages[1].content[2].input["b c"][1].url: e',
      "tool messages[2].content[0].content[0].text: sunny",
      "user messages[2].content[1].source.data: plain",
      "user messages[2].content[1].title: T",
      "system tools[0].description: Finds.",
    ]);
    expect(textsOf({ system: "S", messages: [] }, messagesLayout)).toEqual(["system system: S"]);
  });

  it("are those of a response's input, its instructions and its items", () => {
    const request = {
      model: "m",
      instructions: "Be kind.",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Hi" }] },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "c2ln" },
        { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "sunny" },
        { type: "custom_tool_call", call_id: "c2", name: "g", input: "print(1)" },
        { type: "image_generation_call", id: "ig_1", result: "AAAA", status: "completed" },
        { type: "item_reference", id: "msg_1" },
      ],
      tools: [{ type: "function", name: "f", description: "Finds.", parameters: {} }],
      metadata: { note: "not a text" },
    };
    expect(textsOf(request, responsesLayout)).toEqual([
      "system instructions: Be kind.",
      "user input[0].content[0].text: Hi",
      "assistant input[1].summary[0].text: Hm.",
      "assistant input[2].arguments: {}",
      "tool input[3].output: sunny",
      "assistant input[4].input: print(1)",
      "system tools[0].description: Finds.",
    ]);
    expect(textsOf({ input: "Hi" }, responsesLayout)).toEqual(["user input: Hi"]);
  });

  it("are the inputs of embeddings, and no tokens", () => {
    expect(textsOf({ input: ["a", "b"] }, inputLayout)).toEqual(["user input[0]: a", "user input[1]: b"]);
    expect(textsOf({ input: "a" }, inputLayout)).toEqual(["user input: a"]);
    expect(textsOf({ input: [[1, 2], [3]] }, inputLayout)).toEqual([]);
  });

  it("are found however they are written", () => {
    const written = '{ "messages" :\n[ {"role":"user","\\u0063ontent" : "\\ud83d \\"q\\" [\\\\"} ,7,null, "s" ] }';
    expect(textsOf(written, chatLayout)).toEqual(['user messages[0].content: \ud83d "q" [\\', "user messages[3]: s"]);
  });

  it("has a role from the message alone, wherever it stands there", () => {
    const part = { type: "tool_result", role: "system", text: "x" };
    expect(textsOf({ messages: [{ content: [part], role: "user" }] }, chatLayout)).toEqual([
      "user messages[0].content[0].text: x",
    ]);
    expect(textsOf({ input: [{ type: "message", content: [part], role: "user" }] }, responsesLayout)).toEqual([
      "user input[0].content[0].text: x",
    ]);
  });

  it("are refused where they are too many, or lie too deep", () => {
    const many = { input: Array.from({ length: 65_537 }, () => "") };
    expect(() => textsOf(many, inputLayout)).toThrow("at most 65536 texts");
    const deep = { messages: [{ role: "user", content: [{ input: { ["n".repeat(250)]: nested(4) } }] }] };
    expect(() => textsOf(deep, messagesLayout)).toThrow("too deep");
  });
});

function nested(levels: number): unknown {
  return levels === 0 ? "x" : { ["n".repeat(250)]: nested(levels - 1) };
}
