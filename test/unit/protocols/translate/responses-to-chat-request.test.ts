import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/errors/gateway-error.js";
import { isBeyondTarget } from "../../../../src/errors/refusal.js";
import { parseChatRequest } from "../../../../src/protocols/chat/chat-request.js";
import { writeReasoning } from "../../../../src/protocols/responses/own-items.js";
import { imageNote, noOutput } from "../../../../src/protocols/translate/conversation.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { ownSeal, thoughtsOf } from "../../../support/own-seal.js";
import { readLadder } from "../../../support/translate/event-ladder.js";
import {
  chatOf,
  chunkOf,
  contextOf,
  eventsOf,
  finalResponse,
  messagesOf,
  thoughts,
} from "../../../support/translate/responses-samples.js";

const user = (content: unknown) => ({ role: "user", content });
const call = (id: string, members: object = {}) => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: id,
  name: "get",
  arguments: "{}",
  ...members,
});
const output = (id: string, value: unknown = `out ${id}`) => ({
  type: "function_call_output",
  call_id: id,
  output: value,
});
const chatCall = (id: string, name = "get", args = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const assistant = (content: string | null, ...calls: object[]) => ({
  role: "assistant",
  content,
  ...(calls.length === 0 ? undefined : { tool_calls: calls }),
});
const tool = (id: string, content = `out ${id}`) => ({ role: "tool", tool_call_id: id, content });

function refusalOf(run: () => unknown): { param: string | null; code: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return { param: error.param, code: error.code };
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("messages", () => {
  it("are made of a text, of instructions, and of messages with and without a type", () => {
    expect(chatOf({ instructions: "Be brief.", input: "hi" }).messages).toEqual([
      { role: "system", content: "Be brief." },
      user("hi"),
    ]);
    const input = [
      { role: "developer", content: [{ type: "input_text", text: "a" }] },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "b" },
          { type: "input_text", text: "c" },
        ],
      },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "d" }],
      },
      { role: "assistant", content: "e" },
    ];
    expect(chatOf({ instructions: "I", input }).messages).toEqual([
      { role: "developer", content: "I" },
      { role: "developer", content: "a" },
      user("b\nc"),
      assistant("d\n\ne"),
    ]);
  });

  it("keep images, files and audio", () => {
    const content = [
      { type: "input_text", text: "Look" },
      { type: "input_image", image_url: "data:image/png;base64,AA", detail: "original", file_id: null },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA" },
      { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
    ];
    expect(messagesOf([user(content)])).toEqual([
      user([
        { type: "text", text: "Look" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "high" } },
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA" } },
        { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
      ]),
    ]);
  });

  it.each([
    [{ type: "input_image", file_id: "file-1" }, "input[0].content[0].file_id"],
    [{ type: "input_file", file_id: "file-1" }, "input[0].content[0].file_id"],
    [{ type: "input_file", file_url: "https://a.test/a.pdf" }, "input[0].content[0].file_url"],
  ])("refuse what another target may take: %j", (part, param) => {
    let caught: unknown;
    try {
      messagesOf([user([part])]);
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({ status: 400, param });
    expect(isBeyondTarget(caught as GatewayError)).toBe(true);
  });

  it.each([
    [[user([{ type: "hologram" }])], "input[0].content[0].type"],
    [[user([{ type: "input_text" }])], "input[0].content[0].text"],
    [[user([7])], "input[0].content[0]"],
    [[user("a"), call("a", { name: undefined })], "input[1].name"],
    [[{ type: "item_reference", id: "msg_1" }], "input[0].id"],
  ])("refuse %j", (input, param) => {
    expect(refusalOf(() => messagesOf(input)).param).toBe(param);
  });
});

describe("calls and their outputs", () => {
  it("of one turn are one message with the outputs right behind it", () => {
    expect(messagesOf([user("q"), call("a"), call("b"), output("a"), output("b"), user("next")])).toEqual([
      user("q"),
      assistant(null, chatCall("a"), chatCall("b")),
      tool("a"),
      tool("b"),
      user("next"),
    ]);
  });

  it("of several turns stay in their order", () => {
    const input = [user("q"), call("a"), output("a"), call("b"), output("b"), { role: "assistant", content: "done" }];
    expect(messagesOf(input)).toEqual([
      user("q"),
      assistant(null, chatCall("a")),
      tool("a"),
      assistant(null, chatCall("b")),
      tool("b"),
      assistant("done"),
    ]);
  });

  it("are one message with the text before or behind the calls", () => {
    const text = { role: "assistant", content: [{ type: "output_text", text: "Let me look." }] };
    const message = assistant("Let me look.", chatCall("a"));
    expect(messagesOf([text, call("a"), output("a")])).toEqual([message, tool("a")]);
    expect(messagesOf([call("a"), text, output("a")])).toEqual([message, tool("a")]);
  });

  it("come together wherever the output stands, and none is alone", () => {
    expect(messagesOf([call("a"), call("b"), output("b"), user("?"), output("a"), output("z")])).toEqual([
      assistant(null, chatCall("a"), chatCall("b")),
      tool("a"),
      tool("b"),
      user("?"),
      user("Output of the tool call z:\nout z"),
    ]);
    expect(messagesOf([call("a"), user("?")])).toEqual([
      assistant(null, chatCall("a")),
      tool("a", noOutput),
      user("?"),
    ]);
  });

  it("of one id are told apart", () => {
    expect(messagesOf([call("a"), call("a"), output("a", "1"), output("a", "2")])).toEqual([
      assistant(null, chatCall("a"), chatCall("a_2")),
      tool("a", "1"),
      tool("a_2", "2"),
    ]);
    const taken = messagesOf([call("a"), call("a_2"), call("a_3"), call("a")])[0]?.["tool_calls"] as { id: string }[];
    expect(taken.map(({ id }) => id)).toEqual(["a", "a_2", "a_3", "a_4"]);
    // A client that was cut off sends the call that failed, and the one of its next attempt.
    expect(messagesOf([call("a"), user("again"), call("a"), output("a")])).toEqual([
      assistant(null, chatCall("a")),
      tool("a", noOutput),
      user("again"),
      assistant(null, chatCall("a_2")),
      tool("a_2", "out a"),
    ]);
  });

  it("have texts joined, and images in a message behind all outputs of the turn", () => {
    const image = { type: "input_image", image_url: "https://a.test/1.png" };
    const parts = [{ type: "input_text", text: "x" }, { type: "input_text", text: "y" }, image];
    expect(messagesOf([call("a"), call("b"), output("a", parts), output("b"), user("?")])).toEqual([
      assistant(null, chatCall("a"), chatCall("b")),
      tool("a", `x\ny\n${imageNote}`),
      tool("b"),
      user([{ type: "image_url", image_url: { url: "https://a.test/1.png" } }]),
      user("?"),
    ]);
  });

  it("may have arguments and outputs of the wrong kind", () => {
    const input = [
      call("a", { arguments: { x: 1 } }),
      output("a", { y: 2 }),
      call("b", { arguments: "" }),
      output("b", null),
    ];
    expect(messagesOf(input)).toEqual([
      assistant(null, chatCall("a", "get", '{"x":1}')),
      tool("a", '{"y":2}'),
      assistant(null, chatCall("b")),
      tool("b", ""),
    ]);
  });

  it("are never without what servers insist on, whatever the order of the items", () => {
    const ids = fc.constantFrom("a", "b", "c");
    const item = fc.oneof(
      fc.constant(user("q")),
      fc.constant({ role: "assistant", content: "t" }),
      fc.constant({ role: "assistant", content: [] }),
      fc.constant({ role: "system", content: "s" }),
      fc.constant({ type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: "foreign" }),
      ids.map((id) => call(id)),
      ids.map((id) => output(id)),
    );
    fc.assert(
      fc.property(fc.array(item, { maxLength: 14 }), (items) => {
        const input = [user("first"), ...items];
        const messages = messagesOf(input);
        const calls = messages.flatMap((message) => (message["tool_calls"] ?? []) as { id: string }[]);
        expect(calls).toHaveLength(items.filter((each) => "name" in each).length);
        expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
        for (const [place, message] of messages.entries()) {
          const made = (message["tool_calls"] ?? []) as { id: string }[];
          const behind = messages.slice(place + 1, place + 1 + made.length);
          expect(behind.map((each) => each["tool_call_id"])).toEqual(made.map(({ id }) => id));
          if (message["role"] === "assistant") expect(message["content"] !== null || made.length > 0).toBe(true);
        }
        const tools = messages.filter(({ role }) => role === "tool");
        expect(tools).toHaveLength(calls.length);
        // Each output is there once, with its call or as a text.
        const text = JSON.stringify(messages);
        for (const id of ["a", "b", "c"]) {
          const sent = items.filter((each) => "output" in each && each.call_id === id).length;
          expect(text.split(`out ${id}`)).toHaveLength(sent + 1);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("items that no chat has", () => {
  it("never make a history that was begun elsewhere fail", () => {
    const input = [
      user("q"),
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
      { type: "web_search_call", id: "ws_1", status: "completed", action: {} },
      { type: "file_search_call", id: "fs_1", queries: ["q"], results: [{ text: "found" }] },
      { type: "image_generation_call", id: "ig_1", result: "AAAA" },
      { role: "assistant", content: [{ type: "output_audio", data: "AA" }, { type: "hologram" }] },
      { type: "compaction", encrypted_content: "x" },
      { type: "from_the_future", content: "x" },
      { type: "local_shell_call", id: "l", call_id: "sh", action: { type: "exec", command: ["ls"] } },
      { type: "local_shell_call_output", id: "sh", output: "a.txt" },
      { type: "mcp_call", id: "m", name: "look", arguments: "{}", server_label: "s", output: "seen" },
      { type: "computer_call", id: "cc", call_id: "cu", action: { type: "screenshot" } },
      {
        type: "computer_call_output",
        call_id: "cu",
        output: { type: "computer_screenshot", image_url: "https://a.test/s.png" },
      },
    ];
    expect(messagesOf(input)).toEqual([
      user("q"),
      user('Output of the tool call fs_1:\n[{"text":"found"}]'),
      assistant(null, chatCall("sh", "local_shell", '{"type":"exec","command":["ls"]}')),
      tool("sh", "a.txt"),
      user("Output of the tool call m:\nseen"),
      assistant(null, chatCall("cu", "computer", '{"type":"screenshot"}')),
      tool("cu", imageNote),
      user([{ type: "image_url", image_url: { url: "https://a.test/s.png" } }]),
    ]);
  });
});

describe("thoughts", () => {
  const thought = (members: object) => ({ type: "reasoning", id: "rs_1", summary: [], content: null, ...members });
  const summary = [{ type: "summary_text", text: "Hm" }];

  it.each(["reasoning_content", "reasoning"] as const)(
    "go back as a text, in %s where they came, to where they are from",
    (name) => {
      const response = finalResponse(
        eventsOf([
          chunkOf({ [name]: "H" }),
          chunkOf({ [name]: "m", tool_calls: [{ index: 0, ...chatCall("a") }] }, "stop"),
        ]),
      );
      const input = [...response.output, output("a")];
      expect(messagesOf(input)[0]).toEqual({ ...assistant(null, chatCall("a")), [name]: "Hm" });
      expect(messagesOf(input, { thoughts: thoughtsOf("other") })[0]).toEqual(assistant(null, chatCall("a")));
      expect(messagesOf([...response.output.slice(0, 1), user("q")])).toEqual([user("q")]);
    },
  );

  it("of another gateway or server go nowhere", () => {
    const input = [thought({ summary }), call("a"), output("a")];
    expect(messagesOf(input)[0]).toEqual(assistant(null, chatCall("a")));
  });

  it("go back as they came to where they came from, and to nobody else", () => {
    const details = [{ type: "reasoning.text", text: "Hm", signature: "s" }];
    const own = { encrypted_content: writeReasoning(thoughts, { reasoning_details: details }) };
    const others = { encrypted_content: writeReasoning(thoughtsOf("other"), { reasoning_details: details }) };
    const foreign = { encrypted_content: "gAAAAABforeign" };
    const damaged = { encrypted_content: "ig1.????" };
    const nested = `{"origin":"${thoughts.origin}","reasoning_details":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const deep = { encrypted_content: ownSeal.write("acct_pro", nested) };
    const accountOfAnother = thoughtsOf(thoughts.origin, "acct_other");
    const carried = { encrypted_content: writeReasoning(accountOfAnother, { reasoning_details: details }) };
    const unsigned = { encrypted_content: own.encrypted_content.split(".").slice(0, 2).join(".") };
    const behind = [call("a"), output("a")];
    expect(messagesOf([thought(own), ...behind])[0]).toMatchObject({ reasoning_details: details });
    for (const members of [others, foreign, damaged, deep, carried, unsigned]) {
      expect(messagesOf([thought(members), ...behind])[0]).toEqual(assistant(null, chatCall("a")));
    }
  });

  it("make the same turn again of what a client keeps of an answer", () => {
    const include = ["reasoning.encrypted_content"];
    const extra = { google: { thought_signature: "s" } };
    const detail = { type: "reasoning.text", index: 0 };
    const events = eventsOf(
      [
        chunkOf({ reasoning: "H", reasoning_details: [{ ...detail, text: "H" }] }),
        chunkOf({ reasoning: "m", reasoning_details: [{ ...detail, text: "m" }] }),
        chunkOf({ reasoning_details: [{ ...detail, signature: "sig" }] }),
        chunkOf({ content: "I look." }),
        chunkOf({ tool_calls: [{ index: 0, ...chatCall("a"), extra_content: extra }] }, "tool_calls"),
      ],
      contextOf({ include }),
    );
    expect(messagesOf([...readLadder(events), output("a")])).toEqual([
      {
        ...assistant("I look.", { ...chatCall("a"), extra_content: extra }),
        reasoning: "Hm",
        reasoning_details: [{ ...detail, text: "Hm", signature: "sig" }],
      },
      tool("a"),
    ]);
  });
});

describe("tools", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };

  it("become functions under one flat list of names", () => {
    const { tools, ...rest } = chatOf({
      tools: [
        { type: "function", name: "get", description: "d", parameters: schema, strict: false, defer_loading: true },
        { type: "function", name: "bare", parameters: null },
        {
          type: "namespace",
          name: "agents",
          description: "d",
          tools: [{ type: "function", name: "spawn", parameters: schema }],
        },
        {
          type: "custom",
          name: "apply_patch",
          description: "Edit.",
          format: { type: "grammar", syntax: "lark", definition: "start: x" },
        },
        { type: "tool_search", execution: "client", description: "Find.", parameters: schema },
        { type: "tool_search", execution: "server" },
        { type: "web_search" },
        { type: "web_search_preview_2025_03_11" },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
    });
    expect(tools).toEqual([
      { type: "function", function: { name: "get", description: "d", parameters: schema, strict: false } },
      { type: "function", function: { name: "bare", parameters: { type: "object", properties: {} } } },
      { type: "function", function: { name: "agents__spawn", parameters: schema } },
      {
        type: "function",
        function: {
          name: "apply_patch",
          description: expect.stringMatching(/^Edit\.[\s\S]*'input'[\s\S]*lark[\s\S]*start: x$/),
          parameters: expect.objectContaining({ required: ["input"] }),
        },
      },
      { type: "function", function: { name: "tool_search", description: "Find.", parameters: schema } },
    ]);
    expect(rest).toMatchObject({ tool_choice: "auto", parallel_tool_calls: false });
  });

  it("that a search has found can be called", () => {
    const { tools, messages } = chatOf({
      input: [
        user("q"),
        { type: "tool_search_call", call_id: "s", execution: "client", arguments: { query: "x" } },
        {
          type: "tool_search_output",
          call_id: "s",
          execution: "client",
          tools: [{ type: "namespace", name: "mail", tools: [{ type: "function", name: "send" }] }],
        },
        { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "more" }] },
      ],
      tools: [
        { type: "tool_search", execution: "client" },
        { type: "function", name: "more" },
      ],
    });
    expect(tools?.map(({ function: { name } }) => name)).toEqual(["tool_search", "more", "mail__send"]);
    expect(messages.slice(1)).toEqual([
      assistant(null, chatCall("s", "tool_search", '{"query":"x"}')),
      tool("s", "Tools that can be called now: mail__send"),
    ]);
  });

  it("have names that servers take, also those of calls whose tools are gone", () => {
    const long = "n".repeat(60);
    const { tools, messages } = chatOf({
      input: [
        call("a", { name: "read", namespace: long }),
        call("b", { name: "read", namespace: "x.y" }),
        { type: "custom_tool_call", call_id: "c", name: "apply_patch", input: 'say "x"' },
      ],
      tools: [
        { type: "namespace", name: long, tools: [{ type: "function", name: "read" }] },
        { type: "function", name: "a__b" },
        { type: "namespace", name: "a", tools: [{ type: "function", name: "b" }] },
      ],
    });
    const names = tools?.map(({ function: { name } }) => name) ?? [];
    expect(new Set(names).size).toBe(3);
    const calls = messages[0]?.["tool_calls"] as { function: { name: string; arguments: string } }[];
    expect(calls[0]?.function.name).toBe(names[0]);
    expect(calls[1]?.function.name).toMatch(/^x_y__read_/);
    expect(calls[2]?.function).toEqual({ name: "apply_patch", arguments: '{"input":"say \\"x\\""}' });
    for (const name of [...names, ...calls.map((each) => each.function.name)]) expect(name).toMatch(/^[\w-]{1,64}$/);
  });

  it.each([
    [[{ type: "mcp", server_label: "x" }], "tools[0].type", "unsupported_tool"],
    [[{ type: "function", name: "a" }, { type: "code_interpreter" }], "tools[1].type", "unsupported_tool"],
    [[{}], "tools[0].type", "unsupported_tool"],
    [[{ type: "namespace", name: "n", tools: [{ type: "mcp" }] }], "tools[0].tools[0].type", "unsupported_tool"],
    [[{ type: "function", function: { name: "chat" } }], "tools[0].name", "missing_required_parameter"],
    [[{ type: "namespace", name: "n" }], "tools[0].tools", "invalid_type"],
    [[7], "tools[0]", "invalid_type"],
  ])("are refused: %j", (tools, param, code) => {
    expect(refusalOf(() => chatOf({ tools }))).toEqual({ param, code });
  });

  const listed = [{ type: "function", name: "get" }, { type: "custom", name: "patch" }, { type: "web_search" }];
  const chosen = (name: string) => ({ type: "function", function: { name } });
  it.each<[unknown, unknown, string[]]>([
    ["none", "none", ["get", "patch"]],
    ["required", "required", ["get", "patch"]],
    [{ type: "function", name: "get" }, chosen("get"), ["get", "patch"]],
    [{ type: "custom", name: "patch" }, chosen("patch"), ["get", "patch"]],
    [{ type: "web_search" }, "auto", ["get", "patch"]],
    [{ type: "allowed_tools", mode: "required", tools: [{ type: "custom", name: "patch" }] }, "required", ["patch"]],
  ])("are chosen: %j", (choice, expected, names) => {
    const { tools, tool_choice } = chatOf({ tools: listed, tool_choice: choice });
    expect(tool_choice).toEqual(expected);
    expect(tools?.map(({ function: { name } }) => name)).toEqual(names);
  });

  it.each([
    ["sometimes", "tool_choice"],
    [{ type: "function", name: "unknown" }, "tool_choice.name"],
    [{ type: "file_search" }, "tool_choice.type"],
    [{ type: "allowed_tools", mode: "never", tools: [] }, "tool_choice.mode"],
  ])("cannot be chosen: %j", (choice, param) => {
    expect(refusalOf(() => chatOf({ tools: listed, tool_choice: choice })).param).toBe(param);
  });

  it("of which none is left are not spoken of", () => {
    const body = chatOf({ tools: [{ type: "web_search" }], tool_choice: "auto", parallel_tool_calls: true });
    expect(Object.keys(body).sort()).toEqual(["messages", "model"]);
  });
});

describe("the other members", () => {
  it("are named as chat completions name them, or left out", () => {
    const format = { type: "json_schema", name: "out", schema: { type: "object" }, strict: true };
    const body = chatOf({
      stream: true,
      max_output_tokens: 99,
      temperature: 0.5,
      top_p: null,
      text: { format, verbosity: "low" },
      reasoning: { effort: "high", summary: "auto" },
      include: ["message.output_text.logprobs", "file_search_call.results"],
      top_logprobs: 3,
      store: true,
      metadata: { a: "b" },
      prompt_cache_key: "k",
      service_tier: "priority",
      truncation: "auto",
      client_metadata: { x: 1 },
      max_tool_calls: 3,
    });
    expect(body).toEqual({
      model: "acme/small",
      messages: [user("hi")],
      stream: true,
      max_completion_tokens: 99,
      temperature: 0.5,
      response_format: { type: "json_schema", json_schema: { name: "out", schema: { type: "object" }, strict: true } },
      verbosity: "low",
      reasoning_effort: "high",
      logprobs: true,
      top_logprobs: 3,
    });
  });

  it.each([
    [{ format: { type: "grammar" } }, "text.format.type"],
    [{ format: { type: "json_schema", schema: {} } }, "text.format.name"],
    [{ format: { type: "json_schema", name: "x" } }, "text.format.schema"],
    [{ format: "json" }, "text.format"],
  ])("are refused: %j", (text, param) => {
    expect(refusalOf(() => chatOf({ text })).param).toBe(param);
  });

  it("may be empty", () => {
    expect(chatOf({ text: {}, reasoning: null, include: [], tools: null })).toEqual({
      model: "acme/small",
      messages: [user("hi")],
    });
  });

  it("make a request that is checked as one of a chat client's", () => {
    const body = chatOf({
      input: [user("q"), call("a"), output("a")],
      tools: [{ type: "custom", name: "p" }],
      stream: true,
    });
    expect(atOnce(parseChatRequest(Buffer.from(JSON.stringify(body)), 64))).toMatchObject({
      model: "acme/small",
      stream: true,
    });
  });
});

describe("updates within the input", () => {
  const format = { type: "json_schema", name: "fact", schema: { type: "object" } };
  const update = (members: object) => ({ type: "configuration_update", ...members });
  const chatWith = (...items: object[]) =>
    chatOf({
      reasoning: { effort: "low" },
      text: { verbosity: "low" },
      input: [...items, { role: "user", content: "hi" }],
    });

  it("replace what they name, the last one last, and are no messages", () => {
    const chat = chatWith(
      update({ reasoning: { effort: "high" }, text: { format: { type: "text" } } }),
      { role: "user", content: "and" },
      update({ text: { format } }),
      update({ id: "cfg_1", reasoning: { effort: "medium" } }),
    );
    expect(chat.messages).toEqual([user("and"), user("hi")]);
    expect(chat).toMatchObject({
      reasoning_effort: "medium",
      verbosity: "low",
      response_format: { type: "json_schema", json_schema: { name: "fact", schema: { type: "object" } } },
    });
  });

  it("end a form with another, and say nothing where they are empty", () => {
    const chat = chatWith(update({ text: { format } }), update({ text: { format: { type: "text" } } }), update({}));
    expect(chat).toMatchObject({ reasoning_effort: "low" });
    expect(chat).not.toHaveProperty("response_format");
  });
});
