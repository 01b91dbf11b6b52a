import Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { protocolTables } from "../../../src/protocols/operations.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { anthropic } from "../../../src/providers/presets.js";
import type { UpstreamOperation } from "../../../src/providers/upstream-provider.js";
import { type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { honestTarget, nativeTarget } from "../../support/operations/messages/message-samples.js";
import { honest, nativeServer } from "../../support/operations/responses/response-samples.js";
import { smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Members = Record<string, unknown>;

interface Protocol {
  readonly operation: UpstreamOperation;
  readonly path: string;
  /** A request that nothing is wrong with. */
  readonly plain: Members;
  answer(server: FakeUpstream): void;
}

const messages = [{ role: "user", content: "Say hello." }];

const protocols: readonly Protocol[] = [
  {
    operation: "chat/completions",
    path: "/v1/chat/completions",
    plain: { messages },
    answer: () => {},
  },
  {
    operation: "responses",
    path: "/v1/responses",
    plain: { input: "Say hello." },
    answer: (server) => server.reply(honest(nativeServer)),
  },
  {
    operation: "messages",
    path: "/v1/messages",
    plain: { messages, max_tokens: 50 },
    answer: (server) => server.reply(honestTarget(nativeTarget)),
  },
];
const [chat, responses, ofMessages] = protocols as [Protocol, Protocol, Protocol];

interface Test extends TestGateway {
  server: FakeUpstream;
  /** Sends a request, and tells what it was answered. */
  send(members?: Members, headers?: Record<string, string>): Promise<{ status: number; param?: string; text: string }>;
}

interface StartOptions extends Partial<Model> {
  /** What the target speaks. Default: the protocol itself. */
  readonly target?: Protocol;
  readonly strictMembers?: boolean;
}

async function start(protocol: Protocol, options: StartOptions = {}): Promise<Test> {
  const { target = protocol, strictMembers = true, ...model } = options;
  const server = await startFakeUpstream();
  closers.push(() => server.close());
  target.answer(server);
  const fake = openAICompatible({ baseURL: server.url, operations: [target.operation], dialect: { strictMembers } });
  const test = await startTestGateway({ models: [{ ...smallModel, ...model }], providers: { fake } });
  closers.push(() => test.close());
  const send: Test["send"] = async (members = {}, headers = {}) => {
    const request = new Request(`http://gateway.test${protocol.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-pro", ...headers },
      body: JSON.stringify({ model: "acme/small", ...protocol.plain, ...members }),
    });
    const response = await test.gateway.handler(request);
    const text = await response.text();
    const { error } = JSON.parse(text) as { error?: { param?: string } | null };
    return { status: response.status, text, ...(error?.param ? { param: error.param } : {}) };
  };
  return { ...test, server, send };
}

/** What was sent upstream, without what the gateway adds. */
const lastSent = ({ server }: Test): Members => server.lastRequest.json;

describe.each(protocols)("to a server that speaks $operation itself", (protocol) => {
  const values = [{ a: 1 }, {}, [{ a: 1 }], [[1]], [1, "x", {}]];
  const scalars = ["x", 5, true, ["x"], [], null];

  it("an unknown member is refused if it is an object, and sent if not", async () => {
    const test = await start(protocol);
    for (const value of values) expect(await test.send({ mystery: value })).toMatchObject({ status: 400 });
    expect(test.server.requests).toHaveLength(0);
    expect(test.events.every(({ chargedMicro, attempts }) => chargedMicro === 0 && attempts.length === 0)).toBe(true);
    for (const value of scalars) {
      expect((await test.send({ mystery: value })).status).toBe(200);
      expect(lastSent(test)).toMatchObject({ mystery: value });
    }
  });

  it("the operator's word goes: all of it passes, or none", async () => {
    const open = await start(protocol, { unknownMembers: "pass" });
    for (const value of values) expect((await open.send({ mystery: value })).status).toBe(200);
    expect(lastSent(open)).toMatchObject({ mystery: values.at(-1) });
    const shut = await start(protocol, { unknownMembers: "refuse" });
    for (const value of [...values, "x", 5, null]) expect((await shut.send({ mystery: value })).status).toBe(400);
    expect((await shut.send()).status).toBe(200);
  });

  it("the word may be a single target's, or for a single name", async () => {
    const upstream = { provider: "fake", model: "m", unknownMembers: "pass" } as const;
    const test = await start(protocol, { upstream, unknownMembers: "refuse" });
    expect((await test.send({ mystery: {} })).status).toBe(200);
    const named = await start(protocol, { allowMembers: ["mystery"] });
    expect((await named.send({ mystery: {} })).status).toBe(200);
    expect((await named.send({ riddle: {} })).status).toBe(400);
  });

  it("a server of which nothing is known gets all of it", async () => {
    const test = await start(protocol, { strictMembers: false });
    expect((await test.send({ mystery: {} })).status).toBe(200);
    const told = await start(protocol, { strictMembers: false, unknownMembers: "refuse" });
    expect((await told.send({ mystery: "x" })).status).toBe(400);
  });

  it("no member of the table is unknown", async () => {
    const table = protocolTables.find((each) => each.protocol === protocol.operation);
    const test = await start(protocol, { unknownMembers: "refuse" });
    for (const name of table?.names("member", "passes") ?? []) {
      if (name in protocol.plain || name === "model") continue;
      const { text } = await test.send({ [name]: { a: [{}] } });
      // What stands in it may be.
      expect([name, text.includes(`'${name}' is unknown`)]).toEqual([name, false]);
    }
  });
});

it("a target that does not speak the protocol is sent nothing unknown, so that nothing is refused", async () => {
  const test = await start(ofMessages, { target: chat });
  expect(
    (await test.send({ mystery: {}, container: "c_1", context_management: { edits: [{ type: "x" }] } })).status,
  ).toBe(200);
  expect(lastSent(test)).not.toHaveProperty("mystery");
});

describe("a request for a message", () => {
  const said = (block: object, role = "user") => ({ messages: [...messages, { role, content: [block] }] });
  const added = (tool: object) =>
    said({ type: "tool_addition", tool: { type: "tool_definition", definition: tool } }, "system");
  const nested = (block: object) => said({ type: "tool_result", tool_use_id: "t", content: [block] });

  it.each<[string, Members, string]>([
    ["a container", { container: "container_1" }, "container"],
    ["skills in a container", { container: { skills: [{ type: "anthropic", skill_id: "pptx" }] } }, "container"],
    ["another message", { diagnostics: { previous_message_id: "msg_1" } }, "diagnostics"],
    ["a credit", { fallback_credit_token: "t" }, "fallback_credit_token"],
    ["a credit in an object", { fallback_credit_token: { token: "t" } }, "fallback_credit_token"],
    ["who is billed", { billing_policy: { type: "billing_policy", bill_to: { type: "x" } } }, "billing_policy"],
    ["a profile", { user_profile_id: "u" }, "user_profile_id"],
    ["an image by its id", said({ type: "image", source: { type: "file", file_id: "f" } }), "file_id"],
    ["an id beside other sources", said({ type: "image", source: { type: "url", url: "x", file_id: "f" } }), "file_id"],
    ["a document by its id", said({ type: "document", source: { type: "file", file_id: "f" } }), "file_id"],
    ["one in a tool's result", nested({ type: "document", source: { type: "file", file_id: "f" } }), "file_id"],
    [
      "one in a document",
      said({
        type: "document",
        source: { type: "content", content: [{ type: "image", source: { type: "file", file_id: "f" } }] },
      }),
      "file_id",
    ],
    ["an upload", said({ type: "container_upload", file_id: "f" }), "container_upload"],
    ["one in the system prompt", { system: [{ type: "container_upload", file_id: "f" }] }, "container_upload"],
  ])("reaches nothing that all clients share: %s", async (_name, members, allowed) => {
    const test = await start(ofMessages);
    const { status, text } = await test.send(members);
    expect(status).toBe(400);
    expect(text).toContain("cannot be set here");
    expect(test.server.requests).toHaveLength(0);
    const open = await start(ofMessages, { allowMembers: [allowed] });
    expect((await open.send(members)).status).toBe(200);
    expect(lastSent(open)).toMatchObject(members);
    expect((await (await start(ofMessages, { strictMembers: false })).send(members)).status).toBe(200);
  });

  it.each<Members>([
    { container: null, diagnostics: null, thread: null },
    { container: { id: null }, diagnostics: { previous_message_id: null } },
    {
      context_management: {
        edits: [{ type: "clear_tool_uses_20250919", trigger: { type: "input_tokens", value: 5 } }],
      },
    },
    { context_management: { edits: [{ type: "compact_20260112" }] }, compaction: { type: "summarize" } },
    added({ name: "f", input_schema: { type: "object" } }),
    added({ type: "bash_20250124", name: "bash" }),
    said({ type: "tool_removal", tool: { type: "tool_reference", name: "f" } }, "system"),
    said({ type: "tool_addition", tool: { type: "tool_reference", name: "f" } }, "system"),
    said({ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }),
    said(
      { type: "web_search_tool_result", tool_use_id: "s", content: [{ type: "web_search_result", url: "x" }] },
      "assistant",
    ),
    { tools: [{ name: "f", input_schema: {}, cache_control: { type: "ephemeral" }, input_examples: [{}] }] },
    { thinking: { type: "adaptive" }, output_config: { effort: "high" }, output_format: { type: "json_schema" } },
  ])("that asks for nothing of that kind passes as it is: %j", async (members) => {
    const test = await start(ofMessages);
    expect(await test.send(members)).toMatchObject({ status: 200 });
    expect(lastSent(test)).toMatchObject(members);
  });

  const hosted = [
    { type: "advisor_20260301", name: "advisor", model: "dear" },
    { type: "web_search_20260318", name: "web_search" },
    { type: "mcp_toolset", mcp_server_name: "x" },
    { type: "telepathy_20270101", name: "t" },
  ];
  it.each(hosted)("gets no tool that the server runs, wherever it stands: $type", async (tool) => {
    const places: Members[] = [
      { tools: [tool] },
      added(tool),
      said({ type: "tool_addition", tool }, "system"),
      said(
        { type: "tool_addition", tool: { type: "tool_definition", definition: { ...tool, type: [tool.type] } } },
        "system",
      ),
      { system: [{ type: "tool_addition", tool: { type: "tool_definition", definition: tool } }] },
    ];
    for (const options of [{}, { target: chat }, { strictMembers: false }]) {
      const test = await start(ofMessages, options);
      for (const members of places) expect((await test.send(members)).status).toBe(400);
      expect(test.server.requests).toHaveLength(0);
    }
    const open = await start(ofMessages, { allowMembers: [tool.type] });
    for (const members of [{ tools: [tool] }, added(tool)]) {
      expect((await open.send(members)).status).toBe(200);
      expect(lastSent(open)).toMatchObject(members);
    }
  });

  it.each<[string, Members, string]>([
    ["a block", said({ type: "hologram", data: "x" }), "hologram"],
    ["a block in a tool's result", nested({ type: "hologram" }), "hologram"],
    ["a source", said({ type: "image", source: { type: "satellite", orbit: 1 } }), "satellite"],
    ["an edit", { context_management: { edits: [{ type: "rewrite_20270101" }] } }, "rewrite_20270101"],
    ["a part of a tool", { tools: [{ name: "f", input_schema: {}, advisor: { model: "dear" } }] }, "advisor"],
  ])("goes by the operator's word where a type is unknown: %s", async (_name, members, allowed) => {
    const test = await start(ofMessages);
    const { status, text } = await test.send(members);
    // The operator learns which name to allow.
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(allowed)]);
    expect(test.server.requests).toHaveLength(0);
    for (const open of [{ allowMembers: [allowed] }, { unknownMembers: "pass" as const }]) {
      expect((await (await start(ofMessages, open)).send(members)).status).toBe(200);
    }
  });

  it.each([
    ["known ones", { edits: [...Array(300).fill({ type: "clear_thinking_20251015" }), { type: "rewrite_20270101" }] }],
    [
      "members",
      {
        ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`m${at}`, 1])),
        edits: [{ type: "rewrite_20270101" }],
      },
    ],
  ])("hides no unknown edit behind a crowd of %s", async (_name, context_management) => {
    const test = await start(ofMessages);
    expect((await test.send({ context_management })).status).toBe(400);
    expect(test.server.requests).toHaveLength(0);
  });

  it("hides no refused block behind a crowd of unknown ones", async () => {
    const crowd = Array.from({ length: 100 }, (_, index) => ({ type: `t${index}` }));
    const content = [...crowd, { type: "container_upload", file_id: "f" }];
    for (const open of [{ unknownMembers: "pass" as const }, { allowMembers: crowd.map(({ type }) => type) }]) {
      const test = await start(ofMessages, open);
      expect((await test.send({ messages: [{ role: "user", content }] })).status).toBe(400);
    }
  });
});

describe("a thread", () => {
  it.each([
    ["that speaks Messages", ofMessages],
    ["that speaks chat completions", chat],
  ])("is refused at a target %s, in the words that the SDKs go by, whatever the options say", async (_name, target) => {
    for (const open of [{}, { unknownMembers: "pass" as const }, { strictMembers: false }]) {
      const test = await start(ofMessages, { target, ...open });
      for (const thread of [{ type: "create" }, { type: "continue", previous_message_id: "msg_1" }, "x"]) {
        const { status, text } = await test.send({ thread });
        expect(status).toBe(400);
        expect(JSON.parse(text)).toMatchObject({
          type: "error",
          error: { type: "invalid_request_error", details: { error_code: "thread_unsupported_request" } },
        });
      }
      expect(test.server.requests).toHaveLength(0);
    }
    await expect(start(ofMessages, { allowMembers: ["thread"] })).rejects.toThrow("`thread`");
  });
});

describe("a file in the operator's account", () => {
  it.each<[string, Protocol, Members]>([
    ["chat", chat, { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] }],
    ["an image", responses, { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] }],
    ["a file", responses, { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] }],
    [
      "an output",
      responses,
      { input: [{ type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_id: "f" }] }] },
    ],
    [
      "a screen",
      responses,
      {
        input: [{ type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", file_id: "f" } }],
      },
    ],
  ])("is not for its clients: %s", async (_name, protocol, members) => {
    const test = await start(protocol);
    const { status, param } = await test.send(members);
    expect({ status, param }).toEqual({ status: 400, param: expect.stringMatching(/file_id$/) });
    expect((await (await start(protocol, { allowMembers: ["file_id"] })).send(members)).status).toBe(200);
    const text = JSON.stringify(members).replace('"file_id":"f"', '"file_id":null,"file_data":"data:x"');
    expect((await test.send(JSON.parse(text) as Members)).status).toBe(200);
  });

  const user = (part: object) => [{ role: "user", content: [part] }];
  const imageAt = (url: string) => ({ type: "image_url", image_url: { url } });
  const store = "https://generativelanguage.googleapis.com/v1beta/files/f";

  it.each<[string, Protocol, Members, string]>([
    ["chat", chat, { messages: user(imageAt(store)) }, "image_url.url"],
    ["chat, as a text", chat, { messages: user({ type: "image_url", image_url: "gs://b/f" }) }, "image_url"],
    [
      "chat, in other letters",
      chat,
      { messages: user(imageAt(" HTTPS://Api.OpenAI.com./v1/files/f")) },
      "image_url.url",
    ],
    ["chat, a file", chat, { messages: user({ type: "file", file: { file_data: store } }) }, "file.file_data"],
    ["chat, a video", chat, { messages: user({ type: "video_url", video_url: { url: "s3://b/f" } }) }, "video_url.url"],
    ["a response", responses, { input: user({ type: "input_image", image_url: store }) }, "image_url"],
    ["a response, a file", responses, { input: user({ type: "input_file", file_url: store }) }, "file_url"],
    [
      "a response, an output",
      responses,
      { input: [{ type: "function_call_output", call_id: "c", output: [{ type: "input_image", image_url: store }] }] },
      "image_url",
    ],
    ["a message", ofMessages, { messages: user({ type: "image", source: { type: "url", url: store } }) }, "source.url"],
    [
      "a message, a tool's result",
      ofMessages,
      {
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
          ...user({
            type: "tool_result",
            tool_use_id: "t",
            content: [{ type: "image", source: { type: "url", url: store } }],
          }),
        ],
      },
      "source.url",
    ],
  ])("is not for its clients by its address: %s", async (_name, protocol, members, end) => {
    const test = await start(protocol);
    const { status, text } = await test.send(members);
    expect(status).toBe(400);
    expect(text).toContain(`${end}' cannot be set here`);
    expect(test.server.requests).toHaveLength(0);
    expect((await (await start(protocol, { allowMembers: ["file_id"] })).send(members)).status).toBe(200);
    const other = JSON.stringify(members).replace(/"[^"]*:\/\/[^"]*"/, '"https://images.test/files/a.png"');
    expect((await test.send(JSON.parse(other) as Members)).status).toBe(200);
  });
});

it.each<[string, Protocol, Members]>([
  ["a part of a chat", chat, { messages: [{ role: "user", content: [{ type: "hologram" }] }] }],
  ["an item", responses, { input: [{ type: "hologram" }] }],
  ["a part of an item", responses, { input: [{ role: "user", content: [{ type: "hologram" }] }] }],
])("a type that nobody knows goes by the operator's word: %s", async (_name, protocol, members) => {
  expect((await (await start(protocol)).send(members)).status).toBe(400);
  for (const open of [{ allowMembers: ["hologram"] }, { unknownMembers: "pass" as const }, { strictMembers: false }]) {
    expect((await (await start(protocol, open)).send(members)).status).toBe(200);
  }
});

it("tools that the server runs go with a request for a response where the operator names them", async () => {
  const tool = { type: "file_search", vector_store_ids: ["v"] };
  expect((await (await start(responses)).send({ tools: [tool] })).status).toBe(400);
  const open = await start(responses, { allowMembers: ["file_search", "web_search"] });
  expect((await open.send({ tools: [tool, { type: "web_search" }] })).status).toBe(200);
  expect(lastSent(open)["tools"]).toEqual([tool, { type: "web_search" }]);
});

describe("betas", () => {
  const known = "claude-code-20250219,interleaved-thinking-2025-05-14";

  it("that are known and harmless are sent; others are left out, and the host hears of each unknown one once", async () => {
    const test = await start(ofMessages);
    for (let request = 0; request < 3; request++) {
      const all = `${known}, advisor-tool-2026-03-01,telepathy-2027-01-01,message-threads-2026-08-12`;
      expect((await test.send({}, { "anthropic-beta": all })).status).toBe(200);
      expect(test.server.lastRequest.headers["anthropic-beta"]).toBe(known);
    }
    expect(test.warnings).toMatchObject([
      { code: "unknown_beta", message: expect.stringContaining('"telepathy-2027-01-01"') },
    ]);
    await test.send({}, { "anthropic-beta": "files-api-2025-04-14" });
    expect(test.server.lastRequest.headers).not.toHaveProperty("anthropic-beta");
  });

  it("that are known alone go byte for byte", async () => {
    const test = await start(ofMessages);
    const sent = "claude-code-20250219,  effort-2025-11-24 ,interleaved-thinking-2025-05-14";
    await test.send({}, { "anthropic-beta": sent });
    expect(test.server.lastRequest.headers["anthropic-beta"]).toBe(sent);
    expect(test.warnings).toEqual([]);
  });

  it("go by the operator's word", async () => {
    const both = "telepathy-2027-01-01,files-api-2025-04-14";
    const sent = async (options: StartOptions) => {
      const test = await start(ofMessages, options);
      await test.send({}, { "anthropic-beta": both });
      expect(test.warnings).toEqual([]);
      return test.server.lastRequest.headers["anthropic-beta"];
    };
    expect(await sent({ unknownMembers: "pass" })).toBe("telepathy-2027-01-01");
    expect(await sent({ allowMembers: both.split(",") })).toBe(both);
    expect(await sent({ strictMembers: false })).toBe(both);
  });

  it("cannot flood the host with warnings", async () => {
    const test = await start(ofMessages);
    for (let request = 0; request < 5; request++) {
      const many = Array.from({ length: 50 }, (_, index) => `b${request}-${index}`).join(",");
      await test.send({}, { "anthropic-beta": many });
    }
    expect(test.warnings).toHaveLength(100);
  });
});

it("whatever stands in blocks and tools, no refused type reaches the server", async () => {
  const test = await start(ofMessages);
  const json = fc.jsonValue({ maxDepth: 2 });
  const upload = fc.constantFrom<Members>(
    { type: "container_upload", file_id: "SECRET" },
    { type: "image", source: { type: "file", file_id: "SECRET" } },
    {
      type: "tool_addition",
      tool: { type: "tool_definition", definition: { type: "advisor_20260301", model: "SECRET" } },
    },
  );
  const wrapped = fc.letrec<{ block: Members }>((tie) => ({
    block: fc.oneof(
      { maxDepth: 3 },
      upload,
      fc.record({
        type: fc.constant("tool_result"),
        tool_use_id: fc.constant("t"),
        content: fc.array(tie("block"), { maxLength: 2 }),
        extra: json,
      }),
      fc.record({
        type: fc.constant("document"),
        source: fc.record({ type: fc.constant("content"), content: fc.array(tie("block"), { maxLength: 2 }) }),
        title: fc.string(),
      }),
    ),
  })).block;
  await fc.assert(
    fc.asyncProperty(wrapped, fc.boolean(), async (block, isSystem) => {
      const content = [{ type: "text", text: "Hi" }, block];
      await test.send(isSystem ? { system: content } : { messages: [{ role: "user", content }] });
      const reached = test.server.requests.some(({ body }) => body.toString().includes("SECRET"));
      expect(reached).toBe(false);
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 100) },
  );
});

it("Anthropic's own runner of tools goes on with the whole conversation where a thread is refused", async () => {
  const server = await startFakeUpstream();
  closers.push(() => server.close());
  const call = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } };
  const message = (content: unknown[], reason: string) =>
    wholeAnswer({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: reason,
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 3 },
    });
  server.replyOnce(message([call], "tool_use"));
  server.replyOnce(message([{ type: "text", text: "Sun." }], "end_turn"));
  const provider = anthropic({ baseURL: `${server.url}`, apiKey: "sk-up" });
  const test = await startTestGateway({ models: [smallModel], providers: { fake: provider } });
  closers.push(() => test.close());
  const fetchGateway = (input: string | URL | Request, init?: RequestInit) =>
    Promise.resolve(test.gateway.handler(new Request(input as string, init)));
  const client = new Anthropic({
    apiKey: "sk-pro",
    baseURL: "http://gateway.test",
    maxRetries: 0,
    fetch: fetchGateway,
  });
  const last = await client.beta.messages.toolRunner({
    model: "acme/small",
    max_tokens: 50,
    system: "Be brief.",
    messages: [{ role: "user", content: "How is it in Rome?" }],
    tools: [
      {
        name: "weather",
        input_schema: { type: "object" as const },
        run: async () => "sun",
        parse: (input: unknown) => input,
      },
    ],
  });
  expect(last.content).toMatchObject([{ text: "Sun." }]);
  expect(test.events.map(({ status }) => status)).toEqual([400, 200, 200]);
  const sent = server.requests.map(({ json }) => json as Members);
  expect(sent).toHaveLength(2);
  for (const json of sent) {
    expect(json).toMatchObject({ system: "Be brief.", tools: [{ name: "weather" }] });
    expect(json).not.toHaveProperty("thread");
  }
  expect(sent[1]?.["messages"]).toMatchObject([
    { role: "user", content: "How is it in Rome?" },
    { role: "assistant", content: [call] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
  ]);
});
