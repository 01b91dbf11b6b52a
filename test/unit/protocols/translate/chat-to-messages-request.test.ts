import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/errors/gateway-error.js";
import { isBeyondTarget } from "../../../../src/errors/refusal.js";
import { parseChatRequest } from "../../../../src/protocols/chat/chat-request.js";
import { parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { jsonInstruction } from "../../../../src/protocols/shared/prompt-tokens.js";
import type { MessagesTargetOptions } from "../../../../src/protocols/translate/chat-to-messages-request.js";
import { atOnce } from "../../../../src/wire/slices.js";
import type { Json } from "../../../support/translate/chat-samples.js";
import { chatToMessagesRequest } from "../../../support/translate/whole-translations.js";

function text(body: Json | string, options: Partial<MessagesTargetOptions> = {}): string {
  const own = typeof body === "string" ? body : JSON.stringify({ model: "acme/large", ...body });
  const target = { model: "claude-sonnet-4-5", maxOutputTokens: 8000, ...options };
  const bytes = chatToMessagesRequest(atOnce(parseChatRequest(Buffer.from(own), 64)), target);
  // It must be one to the gateway itself.
  atOnce(parseMessagesRequest(bytes, 64));
  return Buffer.from(bytes).toString();
}

const sent = (body: Json, options: Partial<MessagesTargetOptions> = {}): Json => JSON.parse(text(body, options));
const user = (content: unknown) => ({ role: "user", content });
const block = (words: string) => ({ type: "text", text: words });
const turn = (role: string, ...content: unknown[]) => ({ role, content });
const turns = (...messages: unknown[]) => sent({ messages })["messages"];
const call = (id: string, args = "{}", name = "f") => ({ id, type: "function", function: { name, arguments: args } });
const base = { messages: [user("x")] };

function refusal(body: Json): GatewayError {
  try {
    sent(body);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("a request for a chat completion as one for a message", () => {
  it("says the same", () => {
    expect(
      sent({
        messages: [
          { role: "system", content: "Be brief." },
          { role: "developer", content: [block("Really.")] },
          user("hi"),
          { role: "assistant", content: "hello" },
          user([block("bye")]),
        ],
        max_completion_tokens: 50,
        stream: true,
        temperature: 1.5,
        top_p: 0.9,
        stop: "END",
        user: "someone",
        seed: 1,
        logit_bias: {},
      }),
    ).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 50,
      messages: [turn("user", block("hi")), turn("assistant", block("hello")), turn("user", block("bye"))],
      system: [block("Be brief."), block("Really.")],
      stream: true,
      temperature: 1,
      stop_sequences: ["END"],
    });
  });

  it("has a cap, which Messages insist on", () => {
    expect(sent(base)["max_tokens"]).toBe(8000);
    expect(sent({ ...base, max_tokens: 9000 })["max_tokens"]).toBe(8000);
    expect(sent({ ...base, max_tokens: 90, max_completion_tokens: 70 })["max_tokens"]).toBe(70);
    expect(sent(base, { maxOutputTokens: undefined })["max_tokens"]).toBe(4096);
  });

  it("is for one answer", () => {
    expect(isBeyondTarget(refusal({ ...base, n: 2 }))).toBe(true);
  });
});

describe("messages", () => {
  it("begin with a user, hold no empty text, and do not end with white space", () => {
    expect(turns({ role: "assistant", content: "a" }, user("b"))).toEqual([
      turn("user", block(".")),
      turn("assistant", block("a")),
      turn("user", block("b")),
    ]);
    expect(turns(user("a"), { role: "assistant", content: "" }, user([block(""), block("b")]))).toEqual([
      turn("user", block("a"), block("b")),
    ]);
    expect(turns(user("a"), { role: "assistant", content: "so far \n" })).toEqual([
      turn("user", block("a")),
      turn("assistant", block("so far")),
    ]);
    expect(turns({ role: "system", content: "a" })).toEqual([turn("user", block("."))]);
  });

  it("keep a system message of the middle in its place", () => {
    expect(turns(user("a"), { role: "system", content: "new" }, user("b"))).toEqual([
      turn("user", block("a"), block("<system-reminder>\nnew\n</system-reminder>"), block("b")),
    ]);
  });

  it("keep images, files, and what is to be cached", () => {
    const cache_control = { type: "ephemeral" };
    expect(
      turns(
        user([
          { ...block("a"), cache_control },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "high" } },
          { type: "image_url", image_url: { url: "https://x.test/a.png" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBE" } },
          { type: "file", file: { file_data: `data:text/plain;base64,${Buffer.from("words").toString("base64")}` } },
        ]),
      ),
    ).toEqual([
      turn(
        "user",
        { ...block("a"), cache_control },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBE" }, title: "a.pdf" },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "words" } },
      ),
    ]);
  });

  it.each([
    { type: "input_audio", input_audio: { data: "x", format: "wav" } },
    { type: "file", file: { file_id: "f" } },
    { type: "image_url", image_url: { url: "file:///etc/passwd" } },
  ])("are refused for what Messages cannot hold: %j", (part) => {
    const error = refusal({ messages: [user([part])] });
    expect(error).toMatchObject({ status: 400, param: expect.stringContaining("messages[0].content[0]") });
    expect(isBeyondTarget(error)).toBe(true);
  });
});

describe("calls and their results", () => {
  it("stand in turns, with the arguments as they were written", () => {
    const body = {
      model: "m",
      messages: [
        user("x"),
        { role: "assistant", content: null, tool_calls: [call("a", '{"n": 12345678901234567890}'), call("b", "")] },
        { role: "tool", tool_call_id: "b", content: "B" },
        { role: "tool", tool_call_id: "a", content: [block("A")] },
        user("so?"),
      ],
    };
    expect(text(body)).toContain('"input":{"n": 12345678901234567890}');
    expect((sent(body)["messages"] as Json[]).slice(1)).toEqual([
      turn(
        "assistant",
        { type: "tool_use", id: "a", name: "f", input: { n: 12345678901234567000 } },
        { type: "tool_use", id: "b", name: "f", input: {} },
      ),
      turn(
        "user",
        { type: "tool_result", tool_use_id: "b", content: [block("B")] },
        { type: "tool_result", tool_use_id: "a", content: [block("A")] },
        block("so?"),
      ),
    ]);
  });

  it("are complete: what was broken off has a result, and what answers nothing is a text", () => {
    expect(
      turns(user("x"), { role: "assistant", tool_calls: [call("a")] }, user("never mind"), {
        role: "tool",
        tool_call_id: "z",
        content: "late",
      }),
    ).toEqual([
      turn("user", block("x")),
      turn("assistant", { type: "tool_use", id: "a", name: "f", input: {} }),
      turn(
        "user",
        { type: "tool_result", tool_use_id: "a", content: "(no result)" },
        block("never mind"),
        block("late"),
      ),
    ]);
    expect(
      turns(
        user("x"),
        { role: "assistant", tool_calls: [call("a")] },
        { role: "tool", tool_call_id: "a", content: "" },
      ),
    ).toMatchObject([{}, {}, { content: [{ type: "tool_result", tool_use_id: "a" }] }]);
  });

  it("of several messages in a row are one turn's", () => {
    const first = { role: "assistant", tool_calls: [call("a")] };
    const second = { role: "assistant", content: "b", tool_calls: [call("b")] };
    const results = ["b", "a"].map((id) => ({ role: "tool", tool_call_id: id, content: id }));
    const [, assistant, answers] = turns(user("x"), first, second, ...results) as { content: Json[] }[];
    expect(assistant?.content.map(({ type }) => type)).toEqual(["tool_use", "text", "tool_use"]);
    expect(answers?.content.map(({ tool_use_id: id }) => id)).toEqual(["b", "a"]);
  });

  it("have ids that Anthropic takes, each of its own", () => {
    const again = [
      { role: "assistant", tool_calls: [call("f:0")] },
      { role: "tool", tool_call_id: "f:0", content: "A" },
    ];
    const found = turns(user("x"), ...again, ...again) as { content: Json[] }[];
    const ids = found
      .flatMap(({ content }) => content.map((each) => each["id"] ?? each["tool_use_id"]))
      .filter(Boolean);
    expect(ids).toEqual([ids[0], ids[0], `${ids[0]}_2`, `${ids[0]}_2`]);
    expect(ids[0]).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it("may be in the former way, and of arguments that are none", () => {
    expect(
      turns(
        user("x"),
        { role: "assistant", content: null, function_call: { name: "f", arguments: "oops" } },
        { role: "function", name: "f", content: "A" },
      ),
    ).toEqual([
      turn("user", block("x")),
      turn("assistant", { type: "tool_use", id: "call_0", name: "f", input: { _raw: "oops" } }),
      turn("user", { type: "tool_result", tool_use_id: "call_0", content: [block("A")] }),
    ]);
  });
});

describe("tools", () => {
  const tool = {
    type: "function",
    function: { name: "f", description: "d", parameters: { type: "object", properties: { a: {} } }, strict: true },
  };
  const other = { type: "function", function: { name: "g" } };

  it("are described", () => {
    expect(sent({ ...base, tools: [tool, other], functions: [{ name: "h" }] })["tools"]).toEqual([
      { name: "f", description: "d", input_schema: { type: "object", properties: { a: {} } }, strict: true },
      { name: "g", input_schema: { type: "object", properties: {} } },
      { name: "h", input_schema: { type: "object", properties: {} } },
    ]);
    expect(isBeyondTarget(refusal({ ...base, tools: [{ type: "invented" }] }))).toBe(true);
  });

  it.each([
    ["auto", undefined, { type: "auto" }],
    ["required", undefined, { type: "any" }],
    ["none", false, { type: "none" }],
    [{ type: "function", function: { name: "f" } }, undefined, { type: "tool", name: "f" }],
    ["required", false, { type: "any", disable_parallel_tool_use: true }],
    [undefined, false, { type: "auto", disable_parallel_tool_use: true }],
    [undefined, true, undefined],
  ])("are chosen: %j, parallel: %j", (choice, parallel, expected) => {
    const body = { ...base, tools: [tool], tool_choice: choice, parallel_tool_calls: parallel };
    expect(sent(body)["tool_choice"]).toEqual(expected);
    expect(sent({ ...body, tools: undefined })).not.toHaveProperty("tool_choice");
  });

  it("are those that are allowed", () => {
    const allowed = {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "g" } }] },
    };
    expect(sent({ ...base, tools: [tool, other], tool_choice: allowed })).toMatchObject({
      tools: [{ name: "g" }],
      tool_choice: { type: "any" },
    });
  });
});

describe("thinking", () => {
  const asked = (more: Json, options: Partial<MessagesTargetOptions> = {}) => {
    const { thinking, output_config: config } = sent({ ...base, ...more }, options);
    return { thinking, config };
  };
  const adaptive = { model: "claude-opus-4-6" };

  it("has a budget below the cap, or an effort", () => {
    expect(asked({ reasoning_effort: "medium" })).toEqual({
      thinking: { type: "enabled", budget_tokens: 6400 },
      config: undefined,
    });
    expect(asked({ reasoning_effort: "low" }).thinking).toEqual({ type: "enabled", budget_tokens: 1024 });
    expect(asked({ reasoning_effort: "low", max_tokens: 1200 }).thinking).toBeUndefined();
    expect(asked({ reasoning: { max_tokens: 2000 } }).thinking).toEqual({ type: "enabled", budget_tokens: 2000 });
    expect(asked({ reasoning_effort: "minimal" }, adaptive)).toEqual({
      thinking: { type: "adaptive", display: "summarized" },
      config: { effort: "low" },
    });
    expect(asked({ reasoning_effort: "none" }, adaptive).thinking).toEqual({ type: "disabled" });
    expect(asked({ reasoning_effort: "none" }).thinking).toBeUndefined();
    expect(asked({ reasoning_effort: "high" }, { thinking: "none" }).thinking).toBeUndefined();
    expect(asked({}).thinking).toBeUndefined();
    for (const strange of ["constructor", "__proto__", "toString"]) {
      expect(asked({ reasoning_effort: strange }).thinking).toBeUndefined();
      expect(asked({ reasoning: { effort: strange } }, adaptive).thinking).toBeUndefined();
    }
  });

  it("goes with no sampling and no forced tool", () => {
    expect(sent({ ...base, reasoning_effort: "low", temperature: 0.2, top_p: 0.5 })).not.toHaveProperty("temperature");
    expect(
      sent({
        ...base,
        reasoning_effort: "low",
        tools: [{ type: "function", function: { name: "f" } }],
        tool_choice: "required",
      }),
    ).not.toHaveProperty("thinking");
  });

  const signed = { type: "reasoning.text", index: 0, text: "hm", signature: "EqQB=" };
  const loop = (...details: Json[]) => [
    user("x"),
    { role: "assistant", content: "", reasoning_content: "hm", reasoning_details: details, tool_calls: [call("a")] },
    { role: "tool", tool_call_id: "a", content: "A" },
  ];

  it("of earlier turns goes back with its signature, and not without", () => {
    const body = sent({
      messages: loop(signed, { type: "reasoning.encrypted", data: "xyz" }),
      reasoning_effort: "low",
    });
    expect((body["messages"] as Json[])[1]).toEqual(
      turn(
        "assistant",
        { type: "thinking", thinking: "hm", signature: "EqQB=" },
        { type: "redacted_thinking", data: "xyz" },
        { type: "tool_use", id: "a", name: "f", input: {} },
      ),
    );
    expect(body).toHaveProperty("thinking");
    const apart = sent({ messages: loop({ ...signed, text: undefined }) });
    expect((apart["messages"] as { content: Json[] }[])[1]?.content[0]).toEqual({
      type: "thinking",
      thinking: "hm",
      signature: "EqQB=",
    });
    const foreign = sent({
      messages: loop({ ...signed, format: "google-gemini-v1" }, { ...signed, signature: "ig1.x" }),
      reasoning_effort: "low",
    });
    expect((foreign["messages"] as { content: Json[] }[])[1]?.content).toHaveLength(1);
    // Its server would refuse to go on with calls that no thinking stands before.
    expect(foreign).not.toHaveProperty("thinking");
  });
});

describe("an answer in JSON", () => {
  it("has the schema that was asked for", () => {
    const schema = { type: "object" };
    expect(
      sent({ ...base, response_format: { type: "json_schema", json_schema: { name: "x", schema } } })["output_config"],
    ).toEqual({ format: { type: "json_schema", schema } });
    const free = sent({ ...base, response_format: { type: "json_object" } });
    expect(free).not.toHaveProperty("output_config");
    expect(free["system"]).toEqual([block(jsonInstruction())]);
  });
});
