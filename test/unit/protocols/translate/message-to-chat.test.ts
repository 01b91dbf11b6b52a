import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { readUsage } from "../../../../src/protocols/shared/usage-object.js";
import { messageToChat } from "../../../../src/protocols/translate/message-to-chat.js";
import { MessagesToChatStream } from "../../../../src/protocols/translate/messages-to-chat-stream.js";
import { answerContext } from "../../../support/answer-context.js";
import type { Json } from "../../../support/translate/chat-samples.js";

const completionHead = { created: 5, model: "acme/large" };
const usage = {
  input_tokens: 10,
  cache_read_input_tokens: 30,
  cache_creation_input_tokens: 5,
  output_tokens: 20,
  output_tokens_details: { thinking_tokens: 4 },
};

function whole(message: Json | string): Json | undefined {
  const text = typeof message === "string" ? message : JSON.stringify(message);
  return messageToChat(new ReceivedResponse(Buffer.from(text)), completionHead);
}

function message(content: Json[], stopReason = "end_turn"): Json {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage,
  };
}

/** The events that Anthropic sends for a message, its texts cut where the numbers say. */
function eventsOf({ content, stop_reason: reason, ...head }: Json, cuts: readonly number[]): Json[] {
  let next = 0;
  const pieces = (text: unknown) => {
    const found: string[] = [];
    for (let rest = String(text); rest !== ""; ) {
      const length = 1 + ((cuts[next++ % cuts.length] ?? 0) % 9);
      found.push(rest.slice(0, length));
      rest = rest.slice(length);
    }
    return found;
  };
  const events: Json[] = [
    { type: "message_start", message: { ...head, content: [], usage: { ...usage, output_tokens: 1 } } },
    { type: "ping" },
  ];
  for (const [index, block] of (content as Json[]).entries()) {
    const deltas: Json[] = [];
    const begun: Json = { ...block };
    const cut = (name: string, type: string, member: string, text: unknown, empty: unknown) => {
      begun[name] = empty;
      deltas.push(...pieces(text).map((piece) => ({ type, [member]: piece })));
    };
    if (block["type"] === "text") cut("text", "text_delta", "text", block["text"], "");
    if (block["type"] === "thinking") {
      cut("thinking", "thinking_delta", "thinking", block["thinking"], "");
      begun["signature"] = "";
      deltas.push({ type: "signature_delta", signature: block["signature"] });
    }
    if (block["type"] === "tool_use")
      cut("input", "input_json_delta", "partial_json", JSON.stringify(block["input"]), {});
    events.push({ type: "content_block_start", index, content_block: begun });
    events.push(...deltas.map((delta) => ({ type: "content_block_delta", index, delta })));
    events.push({ type: "content_block_stop", index });
  }
  events.push({
    type: "message_delta",
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 20, output_tokens_details: { thinking_tokens: 4 } },
  });
  return [...events, { type: "message_stop" }];
}

function chunksOf(events: readonly Json[]): Json[] {
  const stream = new MessagesToChatStream(completionHead, answerContext());
  const chunks = events.flatMap((event) => stream.event({ event: String(event["type"]), data: JSON.stringify(event) }));
  return [...chunks, ...stream.end()];
}

/** What a client of chat completions makes of the chunks. */
function accumulated(chunks: readonly Json[]): Json {
  const found: Json = { role: "assistant", content: "" };
  const calls: { function: { arguments: string } }[] = [];
  const details: Json[] = [];
  let finish: unknown = null;
  let counted: unknown;
  for (const { choices, usage: reported } of chunks) {
    counted = reported ?? counted;
    const [choice] = choices as { delta: Json; finish_reason: unknown }[];
    if (choice === undefined) continue;
    const {
      content,
      reasoning_content: reasoning,
      tool_calls: parts = [],
      reasoning_details: more = [],
    } = choice.delta;
    if (content !== undefined) found["content"] = `${found["content"]}${content}`;
    if (reasoning !== undefined) found["reasoning_content"] = `${found["reasoning_content"] ?? ""}${reasoning}`;
    for (const { index, ...part } of parts as (Json & { index: number; function: { arguments: string } })[]) {
      const call = calls[index];
      if (call === undefined) calls[index] = part as never;
      else call.function.arguments += part.function.arguments;
    }
    details.push(...(more as Json[]));
    finish = choice.finish_reason ?? finish;
  }
  if (calls.length > 0) found["tool_calls"] = calls;
  if (details.length > 0) found["reasoning_details"] = details;
  return { message: found, finish, usage: counted };
}

const text = fc.string({ unit: "grapheme", minLength: 1 });
const block = fc.oneof(
  text.map((words) => ({ type: "text", text: words })),
  fc.record({ type: fc.constant("thinking"), thinking: text, signature: fc.base64String({ minLength: 4 }) }),
  text.map((data) => ({ type: "redacted_thinking", data })),
  fc.record({
    type: fc.constant("tool_use"),
    id: fc.stringMatching(/^toolu_[A-Za-z0-9]{1,9}$/),
    name: fc.stringMatching(/^[a-z]{1,9}$/),
    input: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
  }),
);

describe("a message as a chat completion", () => {
  it("says the same, with thinking that can go back", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "EqQB=" },
      { type: "redacted_thinking", data: "xyz" },
      { type: "text", text: "a" },
      { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      { type: "text", text: "b", citations: [] },
      { type: "tool_use", id: "toolu_1", name: "f", input: { x: 1 } },
    ];
    expect(whole(message(content, "tool_use"))).toEqual({
      id: "chatcmpl-msg_1",
      object: "chat.completion",
      created: 5,
      model: "acme/large",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "ab",
            refusal: null,
            reasoning_content: "hm",
            reasoning_details: [
              { type: "reasoning.text", index: 0, text: "hm", signature: "EqQB=" },
              { type: "reasoning.encrypted", index: 1, data: "xyz" },
            ],
            tool_calls: [{ id: "toolu_1", type: "function", function: { name: "f", arguments: '{"x":1}' } }],
          },
          logprobs: null,
          finish_reason: "tool_calls",
        },
      ],
      usage: {
        prompt_tokens: 45,
        completion_tokens: 20,
        total_tokens: 65,
        prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    });
    expect(readUsage(whole(message([]))?.["usage"])).toMatchObject({
      input: 45,
      cachedInput: 30,
      output: 20,
      reasoning: 4,
    });
  });

  it("keeps numbers of more digits than a double has", () => {
    const body = JSON.stringify(message([{ type: "tool_use", id: "t", name: "f", input: { n: 1 } }])).replace(
      '{"n":1}',
      '{"n": 12345678901234567890}',
    );
    expect(JSON.stringify(whole(body))).toContain(JSON.stringify('{"n": 12345678901234567890}'));
  });

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    ["tool_use", "tool_calls"],
  ])("ends for a reason: %s is %s", (reason, finish) => {
    expect(whole(message([{ type: "text", text: "a" }], reason))).toMatchObject({
      choices: [{ finish_reason: finish }],
    });
  });

  it.each(["[]", "{}", '{"type":"error"}', "no"])("is not %s", (body) => {
    expect(whole(body)).toBeUndefined();
  });
});

describe("a stream of Messages as one of chat completions", () => {
  it("amounts to the whole one, however it was cut", () => {
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 6 }),
        fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }),
        (content, cuts) => {
          const own = message(content, content.some(({ type }) => type === "tool_use") ? "tool_use" : "max_tokens");
          const { choices, usage: counted } = whole(own) as {
            choices: [{ message: Json; finish_reason: string }];
            usage: Json;
          };
          const { refusal: _, ...expected } = choices[0].message;
          const found = accumulated(chunksOf(eventsOf(own, cuts)));
          expect(found).toEqual({
            message: { ...expected, content: expected["content"] ?? "" },
            finish: choices[0].finish_reason,
            usage: counted,
          });
        },
      ),
    );
  });

  it.each([
    ["ends", ({ type }: Json) => type !== "content_block_stop"],
    [
      "beginnings",
      ({ type, content_block: begun }: Json) =>
        type !== "content_block_start" || (begun as Json)["type"] === "tool_use",
    ],
  ])("amounts to the same where a server leaves out the %s of blocks", (_what, isSent) => {
    fc.assert(
      fc.property(
        fc.array(
          block.filter(({ type }) => type !== "redacted_thinking"),
          { maxLength: 5 },
        ),
        (content) => {
          const events = eventsOf(message(content), [4]);
          expect(accumulated(chunksOf(events.filter(isSent)))).toEqual(accumulated(chunksOf(events)));
        },
      ),
    );
  });

  it("breaks off where the input of a call comes without its beginning", () => {
    const own = message([{ type: "tool_use", id: "t", name: "f", input: { x: 1 } }], "tool_use");
    const events = eventsOf(own, [4]).filter(({ type }) => type !== "content_block_start");
    expect(() => chunksOf(events)).toThrow(expect.objectContaining({ reason: "garbage" }));
  });

  it("counts calls by themselves, and closes those without arguments", () => {
    const chunks = chunksOf(
      eventsOf(
        message([
          { type: "text", text: "a" },
          { type: "tool_use", id: "t1", name: "f", input: {} },
          { type: "tool_use", id: "t2", name: "g", input: {} },
        ]),
        [9],
      ).filter(({ delta }) => (delta as Json | undefined)?.["type"] !== "input_json_delta"),
    );
    expect(accumulated(chunks)["message"]).toMatchObject({
      tool_calls: [
        { id: "t1", type: "function", function: { name: "f", arguments: "{}" } },
        { id: "t2", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    });
    expect(chunks[0]).toMatchObject({
      id: "chatcmpl-msg_1",
      created: 5,
      model: "acme/large",
      choices: [{ delta: { role: "assistant" } }],
    });
  });

  it("takes an input that came with the beginning, and passes none of what the server ran itself", () => {
    const chunks = chunksOf([
      { type: "message_start", message: { id: "m", usage } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"query":"x"}' } },
      { type: "content_block_stop", index: 0 },
      {
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id: "t", name: "f", input: { a: 1 } },
      },
      { type: "content_block_stop", index: 1 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } },
    ]);
    expect(accumulated(chunks)["message"]).toMatchObject({
      content: "",
      tool_calls: [{ id: "t", function: { arguments: '{"a":1}' } }],
    });
  });

  it.each([
    ['{"id":12345678901234567890,"x":1.0}', '{"id":12345678901234567890,"x":1.0}'],
    ["null", "{}"],
  ])("takes an input that came with the beginning as it was written: %s", (input, expected) => {
    const stream = new MessagesToChatStream(completionHead, answerContext());
    const block = `{"type":"tool_use","input":{"a":1},"id":"t","name":"f","input":${input}}`;
    const stop = '{"type":"content_block_stop","index":0}';
    const events = [
      '{"type":"message_start","message":{"id":"m"}}',
      `{"type":"content_block_start","index":0,"content_block":${block}}`,
      stop,
    ];
    const chunks = events.flatMap((data) => stream.event({ event: undefined, data }));
    const delta = { tool_calls: [{ index: 0, function: { arguments: expected } }] };
    expect(chunks.at(-1)).toMatchObject({ choices: [{ delta }] });
  });

  it("says once why it ends, and what it has used", () => {
    const delta = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } };
    const start = { type: "message_start", message: { id: "m", usage } };
    const chunks = chunksOf([start, delta, delta, { type: "message_stop" }]);
    expect(chunks.filter((each) => each["usage"] !== undefined)).toHaveLength(1);
    const finishes = chunks
      .flatMap(({ choices }) => choices as Json[])
      .filter(({ finish_reason: reason }) => reason !== null);
    expect(finishes).toHaveLength(1);
    expect(chunksOf([start, { ...delta, usage: undefined }]).some((each) => each["usage"] !== undefined)).toBe(false);
  });

  it("keeps count, and breaks off where Messages do", () => {
    const stream = new MessagesToChatStream(completionHead, answerContext());
    stream.event({
      event: undefined,
      data: '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"123456789"}}',
    });
    expect(stream.progress).toMatchObject({ isCounted: false, hasOutput: true, tokens: { input: 7, output: 9 } });
    expect(() => stream.end()).toThrow(expect.objectContaining({ reason: "incomplete" }));
    expect(() =>
      stream.event({ event: "error", data: '{"type":"error","error":{"type":"overloaded_error"}}' }),
    ).toThrow(expect.objectContaining({ status: 502, cause: expect.objectContaining({ status: 529 }) }));
  });
});
