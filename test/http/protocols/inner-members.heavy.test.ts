import { afterEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { anthropic, openAI } from "../../../src/providers/presets.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { honest, type Spoken } from "./any-pair/start-pair.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const presets: Readonly<Record<Spoken, (server: FakeUpstream) => UpstreamProvider>> = {
  "chat/completions": ({ url }) => openAI({ baseURL: url }),
  responses: ({ url }) => openAI({ baseURL: url }),
  messages: ({ url }) => anthropic({ baseURL: url }),
};

type Post = (members: object) => Promise<{ status: number; error?: { code: string; message: string } }>;

async function start(
  client: Spoken,
  make = presets[client],
  more: object = {},
): Promise<TestGateway & { post: Post; server: FakeUpstream }> {
  const server = await startFakeUpstream();
  server.reply(honest(client));
  const test = await startTestGateway({ models: [{ ...smallModel, ...more }], providers: { fake: make(server) } });
  closers.push(
    () => server.close(),
    () => test.close(),
  );
  const post: Post = async (members) => {
    const response = await test.gateway.handler(
      new Request(`http://gateway.test/v1/${client}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
        body: JSON.stringify({ model: "acme/small", ...members }),
      }),
    );
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return { status: response.status, ...(error && { error }) };
  };
  return { ...test, post, server };
}

const strange = { next_month: { price: "double" } };
const user = { role: "user", content: "Hi" };
const said = (block: object) => ({ max_tokens: 9, messages: [{ role: "user", content: [block] }] });
const asked = (more: object) => ({ max_tokens: 9, messages: [user], ...more });
const item = (more: object) => ({ input: [more] });
const addition = (definition: object) => ({
  type: "tool_addition",
  tool: { type: "tool_definition", definition },
});
const compaction = (tool: object) =>
  said({ type: "compaction", content: "So far: hello.", tool_changes: [addition(tool)] });

const refused: readonly [Spoken, string, object][] = [
  ["chat/completions", "messages[0].next_month", { messages: [{ ...user, ...strange }] }],
  [
    "chat/completions",
    "messages[0].content[0].next_month",
    { messages: [{ role: "user", content: [{ type: "text", text: "Hi", ...strange }] }] },
  ],
  [
    "chat/completions",
    "messages[0].content[0].image_url.next_month",
    {
      messages: [
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/b.png", ...strange } }] },
      ],
    },
  ],
  [
    "chat/completions",
    "messages[1].tool_calls[0].next_month",
    {
      messages: [
        user,
        {
          role: "assistant",
          tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" }, ...strange }],
        },
        { role: "tool", tool_call_id: "a", content: "1" },
      ],
    },
  ],
  [
    "chat/completions",
    "tools[0].function.next_month",
    { messages: [user], tools: [{ type: "function", function: { name: "f", parameters: {}, ...strange } }] },
  ],
  [
    "chat/completions",
    "response_format.json_schema.next_month",
    { messages: [user], response_format: { type: "json_schema", json_schema: { name: "a", schema: {}, ...strange } } },
  ],
  ["chat/completions", "reasoning.next_month", { messages: [user], reasoning: { effort: "low", ...strange } }],
  ["chat/completions", "stream_options.next_month", { messages: [user], stream_options: strange }],
  ["responses", "input[0].next_month", item({ ...user, ...strange })],
  [
    "responses",
    "input[0].content[0].next_month",
    item({ role: "user", content: [{ type: "input_text", text: "Hi", ...strange }] }),
  ],
  [
    "responses",
    "input[0].summary[0].next_month",
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "", ...strange }] }),
  ],
  ["responses", "reasoning.next_month", { input: "Hi", reasoning: { effort: "low", ...strange } }],
  ["responses", "text.format.next_month", { input: "Hi", text: { format: { type: "text", ...strange } } }],
  [
    "responses",
    "tools[0].next_month",
    { input: "Hi", tools: [{ type: "function", name: "f", parameters: {}, ...strange }] },
  ],
  ["responses", "tools[0].next_month", { input: "Hi", tools: [{ type: "custom", name: "f", next_month: [{}] }] }],
  [
    "responses",
    "tools[0].tools[0].next_month",
    { input: "Hi", tools: [{ type: "namespace", name: "n", tools: [{ type: "function", name: "f", ...strange }] }] },
  ],
  [
    "responses",
    "input[0].tools[0].next_month",
    item({ type: "additional_tools", role: "developer", tools: [{ type: "function", name: "f", ...strange }] }),
  ],
  ["messages", "messages[0].next_month", asked({ messages: [{ ...user, ...strange }] })],
  ["messages", "messages[0].content[0].next_month", said({ type: "text", text: "Hi", ...strange })],
  [
    "messages",
    "messages[0].content[0].cache_control.next_month",
    said({ type: "text", text: "Hi", cache_control: { type: "ephemeral", ...strange } }),
  ],
  [
    "messages",
    "messages[0].content[0].content[0].next_month",
    said({ type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "1", ...strange }] }),
  ],
  ["messages", "system[0].next_month", asked({ system: [{ type: "text", text: "Hi", ...strange }] })],
  ["messages", "thinking.next_month", asked({ thinking: { type: "adaptive", ...strange } })],
  ["messages", "output_config.next_month", asked({ output_config: { effort: "low", ...strange } })],
  [
    "messages",
    "output_config.format.next_month",
    asked({ output_config: { format: { type: "json_schema", schema: {}, ...strange } } }),
  ],
  [
    "messages",
    "context_management.edits[0].next_month",
    asked({ context_management: { edits: [{ type: "clear_thinking_20251015", ...strange }] } }),
  ],
  ["messages", "tools[0].next_month", asked({ tools: [{ name: "f", input_schema: {}, ...strange }] })],
  [
    "messages",
    "tools[0].cache_control.next_month",
    asked({ tools: [{ name: "f", input_schema: {}, cache_control: strange }] }),
  ],
  [
    "messages",
    "tool_choice.next_month",
    asked({ tools: [{ name: "f", input_schema: {} }], tool_choice: { type: "auto", ...strange } }),
  ],
  [
    "messages",
    "messages[0].content[0].tool_changes[0].tool.definition.next_month",
    compaction({ name: "f", input_schema: {}, ...strange }),
  ],
];

describe("objects below the top level that nobody knows", () => {
  it.each(refused)("reach no preset of %s: %s", async (client, path, members) => {
    const test = await start(client);
    const { status, error } = await test.post(members);
    expect([status, error?.code, test.server.requests.length]).toEqual([400, "unsupported_parameter", 0]);
    // Anthropic's clients have the path in the message, with dots.
    expect(error?.message.replace(/\.(\d+)/g, "[$1]")).toContain(path);
  });

  it.each(refused)("go by the operator's word for %s: %s", async (client, _path, members) => {
    const passing = await start(client, presets[client], { unknownMembers: "pass" });
    expect([await passing.post(members), passing.server.requests.length]).toEqual([{ status: 200 }, 1]);
    const named = await start(client, presets[client], { allowMembers: ["next_month"] });
    expect(await named.post(members)).toEqual({ status: 200 });
  });

  it.each(refused.filter(([client]) => client === "chat/completions"))(
    "reach an unknown server of %s: %s",
    async (client, _path, members) => {
      const test = await start(client, ({ url }) => openAICompatible({ baseURL: url }));
      expect(await test.post(members)).toEqual({ status: 200 });
    },
  );
});

it.each([
  compaction({ type: "web_search_20260318", name: "web_search" }),
  said({ type: "mcp_tool_listing", server_name: "a", tools: [{ type: "code_execution_20260120", name: "run" }] }),
  said({
    type: "tool_result",
    tool_use_id: "a",
    content: [{ type: "compaction", tool_changes: [addition({ type: "web_search_20260318" })] }],
  }),
])("a tool that Anthropic runs is refused wherever it stands: %j", async (members) => {
  const test = await start("messages");
  expect(await test.post(members)).toMatchObject({ status: 400, error: { code: "unsupported_parameter" } });
  const allowed = await start("messages", presets.messages, {
    allowMembers: ["web_search_20260318", "code_execution_20260120"],
  });
  expect(await allowed.post(members)).toEqual({ status: 200 });
});

it("what is the client's own may hold anything", async () => {
  const schema = { type: "object", properties: { a: { type: "object", "x-b": strange } } };
  const chat = await start("chat/completions");
  const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
  expect(
    await chat.post({
      messages: [user, { role: "assistant", tool_calls: [call] }, { role: "tool", tool_call_id: "a", content: "1" }],
      tools: [{ type: "function", function: { name: "f", parameters: schema } }],
      response_format: { type: "json_schema", json_schema: { name: "a", schema } },
      metadata: strange,
    }),
  ).toEqual({ status: 200 });
  const responses = await start("responses");
  expect(
    await responses.post({
      input: [{ role: "user", content: "Hi" }],
      tools: [{ type: "function", name: "f", parameters: schema }],
      text: { format: { type: "json_schema", name: "a", schema } },
    }),
  ).toEqual({ status: 200 });
  const messages = await start("messages");
  const use = { type: "tool_use", id: "a", name: "f", input: strange };
  expect(
    await messages.post({
      max_tokens: 9,
      messages: [
        user,
        { role: "assistant", content: [use] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] },
      ],
      tools: [{ name: "f", input_schema: schema, input_examples: [strange] }],
    }),
  ).toEqual({ status: 200 });
});

describe("tools of the server's where no tools belong", () => {
  const search = [{ type: "web_search" }];
  const searches = [{ type: "web_search_20250305", name: "web_search" }];
  const places: readonly [Spoken, string, object][] = [
    ["chat/completions", "a message", { messages: [{ ...user, tools: search }] }],
    ["responses", "a message", item({ ...user, tools: search })],
    ["responses", "a part", item({ role: "user", content: [{ type: "input_text", text: "Hi", tools: search }] })],
    ["responses", "a compaction", item({ type: "compaction", encrypted_content: "x", tools: search })],
    ["responses", "an output", item({ type: "function_call_output", call_id: "a", output: "1", tools: search })],
    [
      "responses",
      "a function",
      { input: "Hi", tools: [{ type: "function", name: "f", parameters: {}, tools: search }] },
    ],
    ["responses", "the reasoning", { input: "Hi", reasoning: { tools: search } }],
    ["messages", "a message", { max_tokens: 9, messages: [{ ...user, tools: searches }] }],
    ["messages", "a text", said({ type: "text", text: "Hi", tools: searches })],
    ["messages", "changes of a text", said({ type: "text", text: "Hi", tool_changes: searches })],
    ["messages", "a tool of a text", said({ type: "text", text: "Hi", tool: searches[0] })],
    ["messages", "changes of a message", { max_tokens: 9, messages: [{ ...user, tool_changes: searches }] }],
    ["messages", "the thinking", asked({ thinking: { type: "disabled", tools: searches } })],
    [
      "messages",
      "changes of an edit",
      asked({ context_management: { edits: [{ type: "clear_tool_uses_20250919", tool_changes: searches }] } }),
    ],
  ];

  it.each(places)("are refused: %s, %s", async (client, _place, members) => {
    const { post, server } = await start(client);
    expect((await post(members)).status).toBe(400);
    expect(server.requests).toHaveLength(0);
  });

  it("a choice may name the request's own", async () => {
    const { post } = await start("responses");
    const tools = [{ type: "function", name: "f", parameters: {} }];
    const choice = { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] };
    expect((await post({ input: "Hi", tools, tool_choice: choice })).status).toBe(200);
  });
});
