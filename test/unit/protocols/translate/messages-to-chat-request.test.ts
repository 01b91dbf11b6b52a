import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/errors/gateway-error.js";
import { isBeyondTarget } from "../../../../src/errors/refusal.js";
import { parseChatRequest } from "../../../../src/protocols/chat/chat-request.js";
import { anthropicErrorBody } from "../../../../src/protocols/messages/anthropic-error.js";
import { parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { writeOwnSignature } from "../../../../src/protocols/messages/own-thinking.js";
import type { ChatTargetOptions } from "../../../../src/protocols/translate/messages-to-chat-request.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { thoughtsOf } from "../../../support/own-seal.js";
import type { Json } from "../../../support/translate/chat-samples.js";
import { messagesToChatRequest } from "../../../support/translate/whole-translations.js";

function translated(body: Json | string, options: Partial<ChatTargetOptions> = {}) {
  const own = typeof body === "string" ? body : JSON.stringify({ model: "acme/large", max_tokens: 100, ...body });
  return messagesToChatRequest(atOnce(parseMessagesRequest(Buffer.from(own), 64)), {
    thoughts: thoughtsOf("t1"),
    ...options,
  });
}

function chat(body: Json | string, options: Partial<ChatTargetOptions> = {}): Json {
  const bytes = translated(body, options).body;
  // It must be one to the gateway itself.
  atOnce(parseChatRequest(bytes, 64));
  return JSON.parse(Buffer.from(bytes).toString());
}

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const messages = (all: unknown[], options: Partial<ChatTargetOptions> = {}, more: Json = {}) =>
  chat({ messages: all, ...more }, options)["messages"] as Json[];

function refusal(body: Json, options: Partial<ChatTargetOptions> = {}): GatewayError {
  try {
    chat(body, options);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const pngPart = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const use = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "Bash", input });
const result = (id: string, content?: unknown, more: Json = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more,
});

describe("a request for a message as one for a chat completion", () => {
  it("says the same", () => {
    expect(
      chat({
        system: "Be brief.",
        messages: [user("hi"), assistant("hello"), user("bye")],
        stream: true,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 5,
        stop_sequences: ["a", "b", "c", "d", "e"],
        metadata: { user_id: "someone" },
        service_tier: "auto",
        context_management: { edits: [] },
      }),
    ).toEqual({
      model: "acme/large",
      messages: [{ role: "system", content: "Be brief." }, user("hi"), assistant("hello"), user("bye")],
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      top_p: 0.9,
      stop: ["a", "b", "c", "d"],
    });
  });

  it("caps nothing where the client does not", () => {
    expect(chat('{"model":"m","messages":[{"role":"user","content":"x"}]}')).not.toHaveProperty("max_tokens");
  });
});

describe("the system prompt", () => {
  const blocks = [
    { type: "text", text: "x-anthropic-billing-header: cc_version=2; cc_entrypoint=cli;" },
    { type: "text", text: "You are a tool.", cache_control: { type: "ephemeral" } },
    { type: "text", text: "More." },
  ];

  it("is one message, without the line that is for Anthropic", () => {
    expect(messages([user("x")], {}, { system: blocks })[0]).toEqual({
      role: "system",
      content: "You are a tool.\n\nMore.",
    });
  });

  it("may go on in the middle of a conversation", () => {
    const all = [user("a"), { role: "system", content: [{ type: "text", text: "New." }] }, assistant("b"), user("c")];
    expect(messages(all)).toEqual([user("a"), { role: "system", content: "New." }, assistant("b"), user("c")]);
  });
});

describe("blocks of a user", () => {
  const content = (blocks: unknown[], options: Partial<ChatTargetOptions> = {}) =>
    messages([user(blocks)], options)[0]?.["content"];

  it("are texts, images and documents", () => {
    expect(
      content([
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ]),
    ).toBe("a\n\nb");
    expect(content([{ type: "text", text: "a" }, png])).toEqual([{ type: "text", text: "a" }, pngPart]);
    expect(content([{ type: "image", source: { type: "url", url: "https://x.test/a.png" } }])).toEqual([
      { type: "image_url", image_url: { url: "https://x.test/a.png" } },
    ]);
    expect(
      content([{ type: "document", title: "T", source: { type: "text", media_type: "text/plain", data: "words" } }]),
    ).toBe("T\n\nwords");
    expect(
      content([{ type: "document", source: { type: "content", content: [{ type: "text", text: "a" }, png] } }]),
    ).toEqual([{ type: "text", text: "a" }, pngPart]);
    expect(content([{ type: "search_result", title: "T", source: "S", content: [{ type: "text", text: "c" }] }])).toBe(
      "T\nS\nc",
    );
    const pdf = {
      type: "document",
      title: "a.pdf",
      source: { type: "base64", media_type: "application/pdf", data: "JVBE" },
    };
    expect(content([pdf])).toEqual([
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBE" } },
    ]);
  });

  it("that nobody knows are left out, and empty messages with them", () => {
    expect(messages([user([{ type: "invented" }, { type: "text", text: "" }]), user("x")])).toEqual([user("x")]);
    expect(refusal({ messages: [user([{ type: "invented" }])] })).toMatchObject({ status: 400, param: "messages" });
  });

  it.each([
    [{ type: "image", source: { type: "file", file_id: "f" } }, "messages[0].content[0].source"],
    [{ type: "document", source: { type: "url", url: "https://x.test/a.pdf" } }, "messages[0].content[0].source"],
  ])("that the target cannot be shown are refused: %j", (block, param) => {
    const error = refusal({ messages: [user([block])] });
    expect(error).toMatchObject({ status: 400, param });
    expect(isBeyondTarget(error)).toBe(true);
  });
});

describe("calls and their results", () => {
  it("are calls of functions, with the input as it was written", () => {
    const body =
      '{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"a"},' +
      '{"type":"tool_use","id":"t","name":"f","input":{"2":12345678901234567890, "1":1.0}}]}]}';
    expect(chat(body)["messages"]).toEqual([
      user("x"),
      {
        role: "assistant",
        content: "a",
        tool_calls: [
          { id: "t", type: "function", function: { name: "f", arguments: '{"2":12345678901234567890, "1":1.0}' } },
        ],
      },
      { role: "tool", tool_call_id: "t", content: "(no result)" },
    ]);
  });

  it("stand right behind each other, before the rest of the user's message", () => {
    const found = messages([
      user("go"),
      assistant([use("a"), use("b")]),
      user([{ type: "text", text: "first" }, result("b", "B"), result("a", [{ type: "text", text: "A" }])]),
    ]);
    expect(found.slice(1)).toEqual([
      expect.objectContaining({ role: "assistant", content: null }),
      { role: "tool", tool_call_id: "a", content: "A" },
      { role: "tool", tool_call_id: "b", content: "B" },
      user("first"),
    ]);
  });

  it("are gathered from several messages", () => {
    const found = messages([
      user("go"),
      assistant([use("a")]),
      assistant([use("b")]),
      user([result("a", "A")]),
      { role: "system", content: "note" },
      user([result("b", "B")]),
    ]);
    expect(found.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "system"]);
  });

  it.each([
    [result("a"), ""],
    [result("a", [], { is_error: true }), "Error: "],
    [result("a", "gone", { is_error: true }), "Error: gone"],
    [result("a", "<tool_use_error>x</tool_use_error>", { is_error: true }), "<tool_use_error>x</tool_use_error>"],
    [result("a", "Error: x", { is_error: true }), "Error: x"],
    [result("a", "fine", { is_error: false }), "fine"],
  ])("may be failures: %j", (block, content) => {
    expect(messages([user("x"), assistant([use("a")]), user([block])])[2]).toMatchObject({ role: "tool", content });
  });

  it("may hold images, which a user shows", () => {
    expect(
      messages([
        user("x"),
        assistant([use("a"), use("b")]),
        user([result("a", [png]), result("b", "B"), { type: "text", text: "so?" }]),
      ]).slice(2),
    ).toEqual([
      { role: "tool", tool_call_id: "a", content: "[image]" },
      { role: "tool", tool_call_id: "b", content: "B" },
      user([pngPart]),
      user("so?"),
    ]);
  });

  it("are texts where nothing was called, and one where there are two", () => {
    expect(messages([user([result("gone", "late")])])).toEqual([user("late")]);
    expect(messages([user("x"), assistant([use("a")]), user([result("a", "1"), result("a", "2")])])[2]).toMatchObject({
      content: "1\n\n2",
    });
  });

  it("of one id in two turns do not share a result", () => {
    const found = messages([
      user("x"),
      assistant([use("a")]),
      user([result("a", "A")]),
      assistant([use("a")]),
      user("y"),
    ]);
    expect(found.map(({ content }) => content)).toEqual(["x", null, "A", null, "(no result)", "y"]);
  });

  it("that are there twice are the last one, as for everybody else", () => {
    const block = '{"type":"tool_use","id":"a","name":"f","input":{"a":1},"input":{"b":2}}';
    const body = `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[${block}]}]}`;
    expect((chat(body)["messages"] as Json[])[1]).toMatchObject({
      tool_calls: [{ function: { arguments: '{"b":2}' } }],
    });
  });

  it("have the upstream's own ids again", () => {
    const id = `toolu_x${Buffer.from("functions.Bash:0").toString("base64url")}`;
    const found = messages([user("x"), assistant([use(id)]), user([result(id, "A")])]);
    expect(found[1]).toMatchObject({ tool_calls: [{ id: "functions.Bash:0" }] });
    expect(found[2]).toMatchObject({ tool_call_id: "functions.Bash:0" });
  });
});

describe("thinking of earlier turns", () => {
  const details = [{ type: "reasoning.text", text: "a", signature: "s" }];
  const thinking = (signature: string) => [
    { type: "thinking", thinking: "a", signature },
    { type: "text", text: "b" },
  ];
  const turn = (signature: string, options: Partial<ChatTargetOptions> = {}) =>
    messages([user("x"), assistant(thinking(signature)), user("y")], options)[1];

  it("goes back to where it is from", () => {
    expect(turn(writeOwnSignature(thoughtsOf("t1"), { details }))).toEqual({
      role: "assistant",
      content: "b",
      reasoning_content: "a",
      reasoning_details: details,
    });
    expect(turn(writeOwnSignature(thoughtsOf("t1"), { text: "all of it" }))).toMatchObject({
      reasoning_content: "all of it",
    });
  });

  it("goes back in as many pieces as a client makes of it", () => {
    const many = new Array(300_000).fill(1);
    expect(turn(writeOwnSignature(thoughtsOf("t1"), { details: many }))).toHaveProperty("reasoning_details", many);
  });

  it.each([
    "",
    "EqQB=",
    writeOwnSignature(thoughtsOf("t2"), {}),
    "ig1.%%%",
    `ig1.${Buffer.from("[".repeat(1000)).toString("base64url")}`,
  ])("goes nowhere else: %s", (signature) => {
    expect(turn(signature)).toEqual(assistant("b"));
  });
});

describe("what an upstream wants back with a call", () => {
  it("is at the call again, and at no other", () => {
    const extra = { google: { thought_signature: "sig" } };
    const signature = writeOwnSignature(thoughtsOf("t1"), { extra });
    const content = [{ type: "thinking", thinking: "", signature }, use("a"), use("b")];
    const [, turn] = messages([user("x"), assistant(content)]) as { tool_calls: Json[] }[];
    expect(turn?.tool_calls.map((call) => call["extra_content"])).toEqual([extra, undefined]);
    expect(turn).not.toHaveProperty("reasoning_content");
    expect(JSON.stringify(messages([user("x"), assistant(content)], { thoughts: thoughtsOf("t2") }))).not.toContain(
      "google",
    );
  });
});

describe("tools", () => {
  const tool = {
    name: "f",
    description: "d",
    input_schema: { $schema: "x", type: "object", properties: { a: {} } },
    strict: true,
    cache_control: {},
    defer_loading: true,
    eager_input_streaming: true,
  };
  const base = { messages: [user("x")] };

  it("are functions", () => {
    expect(
      chat({ ...base, tools: [tool, { type: "custom", name: "g", input_schema: { type: "object" } }] })["tools"],
    ).toEqual([
      {
        type: "function",
        function: { name: "f", description: "d", parameters: { type: "object", properties: { a: {} } }, strict: true },
      },
      { type: "function", function: { name: "g", parameters: { type: "object", properties: {} } } },
    ]);
  });

  it.each([
    [{ type: "auto" }, { tool_choice: "auto" }],
    [{ type: "any" }, { tool_choice: "required" }],
    [{ type: "none" }, { tool_choice: "none" }],
    [{ type: "tool", name: "f" }, { tool_choice: { type: "function", function: { name: "f" } } }],
    [
      { type: "auto", disable_parallel_tool_use: true },
      { tool_choice: "auto", parallel_tool_calls: false },
    ],
  ])("are chosen: %j", (choice, expected) => {
    expect(chat({ ...base, tools: [tool], tool_choice: choice })).toMatchObject(expected);
    expect(chat({ ...base, tool_choice: choice })).not.toHaveProperty("tool_choice");
  });

  it("with long names have short ones, the same everywhere", () => {
    const name = `mcp__server__${"x".repeat(100)}`;
    const body = {
      tools: [{ name, input_schema: {} }],
      tool_choice: { type: "tool", name },
      messages: [user("x"), assistant([{ ...use("a"), name }])],
    };
    const { translation } = translated(body);
    const sent = chat(body) as { tools: [{ function: { name: string } }]; tool_choice: Json; messages: Json[] };
    const short = sent.tools[0].function.name;
    expect(short).toHaveLength(64);
    expect(sent.tool_choice).toEqual({ type: "function", function: { name: short } });
    expect(sent.messages[1]).toMatchObject({ tool_calls: [{ function: { name: short } }] });
    expect(translation.toolNames.fromChat(short)).toBe(name);
    const other = translated({ ...body, tools: [{ name: `${name}y`, input_schema: {} }] });
    expect(JSON.parse(Buffer.from(other.body).toString()).tools[0].function.name).not.toBe(short);
  });

  it("that the server would run are refused, as are those that it would describe", () => {
    for (const type of ["web_search_20250305", "bash_20250124", "code_execution_20260120"]) {
      const error = refusal({ ...base, tools: [tool, { type, name: "x" }] });
      expect(isBeyondTarget(error)).toBe(true);
      expect(JSON.parse(anthropicErrorBody(error, "r")).error.message).toBe(
        `tools.1: type '${type}' is not supported by this model; define it as a custom tool`,
      );
    }
    expect(isBeyondTarget(refusal({ ...base, mcp_servers: [{ url: "https://x.test" }] }))).toBe(true);
    expect(
      chat({ ...base, tools: [{ type: "tool_search_tool_regex_20251119", name: "s" }], mcp_servers: [] }),
    ).not.toHaveProperty("tools");
    expect(refusal({ ...base, tools: "x" })).toMatchObject({ status: 400, param: "tools" });
    expect(refusal({ ...base, tools: [5] })).toMatchObject({ status: 400, param: "tools[0]" });
  });
});

describe("thinking that is asked for", () => {
  const asked = (more: Json, options: Partial<ChatTargetOptions> = { reasoning: true }) =>
    chat({ messages: [user("x")], ...more }, options)["reasoning_effort"];

  it("is an effort, where the model can think", () => {
    expect(asked({ output_config: { effort: "high" }, thinking: { type: "adaptive" } })).toBe("high");
    expect(asked({ thinking: { type: "enabled", budget_tokens: 1024 } })).toBe("low");
    expect(asked({ thinking: { type: "enabled", budget_tokens: 8000 } })).toBe("medium");
    expect(asked({ thinking: { type: "enabled", budget_tokens: 60_000 } })).toBe("high");
    expect(asked({ thinking: { type: "adaptive" } })).toBeUndefined();
    expect(asked({ thinking: { type: "disabled" } })).toBeUndefined();
    expect(asked({ output_config: { effort: "high" } }, {})).toBeUndefined();
  });

  it.each([
    [undefined, "hidden"],
    [{ type: "disabled" }, "hidden"],
    [{ type: "enabled", budget_tokens: 1024 }, "shown"],
    [{ type: "adaptive", display: "summarized" }, "shown"],
    [{ type: "adaptive", display: "omitted" }, "omitted"],
  ])("is shown to who has asked: %j", (thinking, expected) => {
    expect(translated({ messages: [user("x")], ...(thinking && { thinking }) }).translation.thinking).toBe(expected);
  });
});

describe("an answer in JSON", () => {
  it("has the schema that was asked for", () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    const expected = { type: "json_schema", json_schema: { name: "output", schema: { type: "object" }, strict: true } };
    expect(chat({ messages: [user("x")], output_config: { format } })["response_format"]).toEqual(expected);
    expect(chat({ messages: [user("x")], output_format: format })["response_format"]).toEqual(expected);
  });
});
