import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { type Dialect, restrictions } from "../../../src/protocols/shared/dialect.js";
import { restrictedNames } from "../../../src/protocols/shared/member-rules.js";
import { azureOpenAI } from "../../../src/providers/azure-openai.js";
import { llamaCpp, ollama, vLLM } from "../../../src/providers/local-presets.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { deepSeek, groq, mistral, openAI, openRouter } from "../../../src/providers/presets.js";
import type { UpstreamOperation, UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { honestEmbeddings } from "../../support/embedding-samples.js";
import { chatServer, honest, nativeServer } from "../../support/operations/responses/response-samples.js";
import { requestText } from "../../support/operations/responses/responses-server.js";
import {
  chatRequest,
  embeddingModel,
  embeddingRequest,
  smallModel,
  startTestGateway,
  type TestGateway,
} from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Make = (options: { baseURL: string; apiKey: string; dialect?: Dialect }) => UpstreamProvider;

const strict: Make = ({ dialect, ...options }) =>
  openAICompatible({ ...options, dialect: { strictMembers: true, ...dialect } });

const presets: [string, Make][] = [
  ["openAICompatible with strictMembers", strict],
  ["openAI", openAI],
  ["azureOpenAI", azureOpenAI],
  ["openRouter", openRouter],
  ["groq", groq],
  ["mistral", mistral],
  ["deepSeek", deepSeek],
  ["vLLM", vLLM],
  ["llamaCpp", llamaCpp],
  ["ollama", ollama],
  ["a provider of the host's", (options) => ({ ...strict(options), call: openAICompatible(options).call })],
];

interface Test extends TestGateway {
  server: FakeUpstream;
}

async function start(make: Make, model: Partial<Model> = {}, options: Partial<GatewayOptions> = {}): Promise<Test> {
  const server = await startFakeUpstream();
  closers.push(() => server.close());
  const provider = make({ baseURL: server.url, apiKey: "sk-upstream" });
  const test = await startTestGateway({
    models: [
      { ...smallModel, ...model },
      { ...embeddingModel, upstream: { provider: "fake", model: "e" } },
    ],
    providers: { fake: provider },
    ...options,
  });
  closers.push(() => test.close());
  return { ...test, server };
}

/** A request for a response. */
function responseRequest(members: Record<string, unknown>): Request {
  return new Request("http://gateway.test/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
    body: requestText(members),
  });
}

/** Values that ask for something, whichever the member is. */
const asking = [7, "other", ["other"], { other: true }, true, -1];

const namesOf = (rule: "drop" | "refuse") =>
  restrictions.filter((restriction) => restriction.rule === rule).flatMap(({ names }) => names);

async function refusalOf(test: Test, request: Request): Promise<{ status: number; code?: string; param?: string }> {
  const response = await test.gateway.handler(request);
  const { error = {} } = (await response.json()) as { error?: { code?: string; param?: string } };
  return { status: response.status, ...error };
}

describe.each(presets)("at %s", (_name, make) => {
  it("no member chooses another model, price or cap: it is refused with its param, before anything is held", async () => {
    const test = await start(make);
    for (const name of namesOf("refuse")) {
      for (const value of asking) {
        const refused = { status: 400, code: "unsupported_parameter", param: name };
        expect(await refusalOf(test, chatRequest({ [name]: value }))).toMatchObject(refused);
      }
    }
    expect(test.server.requests).toHaveLength(0);
    expect(test.events.every(({ chargedMicro, attempts }) => chargedMicro === 0 && attempts.length === 0)).toBe(true);
    const { gateway } = test;
    expect((await gateway.accounts.balance("acct_pro")).windows.session).toMatchObject({ usedMicro: 0, heldMicro: 0 });
  });

  it("what leaves the answer as it is goes without", async () => {
    const test = await start(make);
    for (const name of namesOf("drop")) {
      for (const value of asking) {
        const response = await test.gateway.handler(chatRequest({ temperature: 0.5, [name]: value }));
        expect([name, response.status]).toEqual([name, 200]);
        expect(test.server.lastRequest.json).not.toHaveProperty(name);
        expect(test.server.lastRequest.json).toMatchObject({ model: "upstream-small", temperature: 0.5 });
      }
    }
  });
});

describe.each<[string, UpstreamOperation]>([
  ["that speaks the Responses API", "responses"],
  ["that does not", "chat/completions"],
])("a request for a response, at a server %s", (_name, operation) => {
  const make: Make = (options) => ({ ...strict(options), operations: [operation] });
  const own = ["max_output_tokens"];

  it("chooses no other model, price or cap", async () => {
    const test = await start(make);
    for (const name of namesOf("refuse").filter((each) => !own.includes(each))) {
      for (const value of asking) {
        const refused = { status: 400, code: "unsupported_parameter", param: name };
        expect(await refusalOf(test, responseRequest({ [name]: value }))).toMatchObject(refused);
      }
    }
    expect(test.server.requests).toHaveLength(0);
    expect(test.events.every(({ chargedMicro, attempts }) => chargedMicro === 0 && attempts.length === 0)).toBe(true);
  });

  it("goes without what leaves the response as it is", async () => {
    const test = await start(make);
    test.server.reply(honest(operation === "responses" ? nativeServer : chatServer));
    for (const name of namesOf("drop").filter((each) => each !== "store")) {
      const response = await test.gateway.handler(responseRequest({ [name]: "other" }));
      expect([name, response.status]).toEqual([name, 200]);
      expect(test.server.lastRequest.json).not.toHaveProperty(name);
    }
  });
});

it("leaves all of them to a server of which nothing is known", async () => {
  const test = await start(openAICompatible);
  for (const name of [...namesOf("refuse"), ...namesOf("drop")]) {
    const body = `{"model":"acme/small","messages":[{"role":"user","content":"Hi"}],"${name}":{"a":[1.0]}}`;
    expect([name, (await test.gateway.handler(chatRequest(body))).status]).toEqual([name, 200]);
    expect(test.server.lastRequest.body.toString()).toBe(body.replace("acme/small", "upstream-small"));
  }
  expect((await test.gateway.handler(chatRequest({ tools: [{ type: "web_search" }] }))).status).toBe(200);
});

it("holds for embeddings, too", async () => {
  const test = await start(strict);
  test.server.reply(honestEmbeddings());
  expect(await refusalOf(test, embeddingRequest({ models: ["dear"] }))).toMatchObject({ status: 400, param: "models" });
  expect((await test.gateway.handler(embeddingRequest({ service_tier: "priority" }))).status).toBe(200);
  expect(test.server.lastRequest.json).not.toHaveProperty("service_tier");
});

it.each([
  { n_predict: null, models: [], plugins: [], use_beam_search: false, lora: "" },
  { best_of: 1, min_tokens: 0, ignore_eos: false, provider: {}, modalities: ["text"] },
  { service_tier: "auto", store: false, priority: 0, tools: [] },
])("passes on byte for byte what asks for nothing: %j", async (members) => {
  const test = await start(strict);
  expect((await test.gateway.handler(chatRequest(members))).status).toBe(200);
  expect(test.server.lastRequest.json).toMatchObject(members);
});

it.each([
  [{ chat_template: "{{ x }}" }, "chat_template"],
  [{ ChatTemplate: "{{ x }}" }, "ChatTemplate"],
  [{ thinking: true, tokenize: true }, "tokenize"],
])("refuses a template among the options of the template: %j", async (options, name) => {
  const test = await start(strict);
  const request = chatRequest({ chat_template_kwargs: options });
  expect(await refusalOf(test, request)).toMatchObject({ status: 400, param: `chat_template_kwargs.${name}` });
});

it("leaves other options of the template as they are", async () => {
  const test = await start(strict);
  const members = { chat_template_kwargs: { enable_thinking: false, chat_template: null } };
  expect((await test.gateway.handler(chatRequest(members))).status).toBe(200);
  expect(test.server.lastRequest.json).toMatchObject(members);
});

it.each([
  ["goes with it", {}, false],
  ["stays where it stays", { allowMembers: ["store"] }, true],
])("metadata, which OpenAI takes with store alone, %s", async (_name, model, stays) => {
  const test = await start(openAI, model);
  const members = { store: true, metadata: { a: "b" } };
  expect((await test.gateway.handler(chatRequest(members))).status).toBe(200);
  for (const name of ["store", "metadata"]) expect(name in test.server.lastRequest.json).toBe(stays);
});

it("takes an empty object for a search that is asked for", async () => {
  const test = await start(strict);
  expect(await refusalOf(test, chatRequest({ web_search_options: {} }))).toMatchObject({ param: "web_search_options" });
});

it("refuses every spelling that a lenient server may read as a restricted name", async () => {
  const test = await start(strict);
  const spelling = fc.constantFrom(...restrictedNames).chain((name) =>
    fc
      .array(fc.constantFrom("as it is", "upper", "fold", "dash", "camel"), {
        minLength: name.length,
        maxLength: name.length,
      })
      .map((ways) => [name, [...name].map((letter, index) => respelled(letter, ways[index])).join("")] as const)
      .filter(([, spelled]) => spelled !== name),
  );
  await fc.assert(
    fc.asyncProperty(spelling, fc.constantFrom(...asking), async ([, spelled], value) => {
      const refused = { status: 400, param: spelled };
      expect(await refusalOf(test, chatRequest({ [spelled]: value }))).toMatchObject(refused);
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 100) },
  );
  expect(test.server.requests).toHaveLength(0);
});

function respelled(letter: string, way = ""): string {
  if (way === "upper") return letter.toUpperCase();
  if (way === "dash" && letter === "_") return "-";
  if (way === "camel" && letter === "_") return "";
  if (way === "fold") return { s: "\u017f", k: "\u212a" }[letter] ?? letter;
  return letter;
}

describe("tools", () => {
  const own = { type: "function", function: { name: "f", parameters: { type: "object" } } };

  it.each([
    ["a search of the server's", [own, { type: "web_search" }], "tools[1].type"],
    ["OpenRouter's", [{ type: "openrouter:web_search" }], "tools[0].type"],
    ["Groq's", [{ type: "browser_search" }], "tools[0].type"],
    ["Gemini's, which has no type", [{ googleSearch: {} }], "tools[0].type"],
    ["a function that is no function", [{ type: "functions" }], "tools[0].type"],
    ["a second spelling of the type", [{ type: "function", Type: "web_search" }], "tools[0].type"],
    ["a type that is no text", [{ type: ["function"] }], "tools[0].type"],
    ["one beside a function", [{ ...own, google_search: {} }], "tools[0].google_search"],
    ["a list beside a function", [{ ...own, retrieval: [] }], "tools[0].retrieval"],
    ["one beside a function without a type", [{ function: own.function, googleSearch: {} }], "tools[0].type"],
    ["an object", { type: "web_search" }, "tools"],
    ["a text", "web_search", "tools"],
  ])("that the server runs itself are refused: %s", async (_name, tools, param) => {
    const test = await start(strict);
    expect(await refusalOf(test, chatRequest({ tools }))).toMatchObject({ status: 400, param });
    expect(test.server.requests).toHaveLength(0);
  });

  it.each([
    ["two types", '[{"type":"function","type":"web_search"}]'],
    ["an escaped type", '[{"ty\\u0070e":"web_search"}]'],
    ["an escape in the type", '[{"type":"func\\u0074ion"}]'],
  ])("are read as the server may read them: %s", async (_name, tools) => {
    const test = await start(strict);
    const body = `{"model":"acme/small","messages":[{"role":"user","content":"Hi"}],"tools":${tools}}`;
    expect(await refusalOf(test, chatRequest(body))).toMatchObject({ status: 400, param: "tools[0].type" });
  });

  it.each([
    ["Anthropic's words", { tools: [{ name: "f", input_schema: {} }] }, "tools[0].type", "'tools[0].type' is missing"],
    ["functions that are no list", { functions: own.function }, "functions", "an array"],
    [
      "a crowd",
      { tools: [Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`x${at}`, 1]))] },
      "tools[0]",
      "32 members",
    ],
  ])("are told what is wrong with them: %s", async (_name, members, param, message) => {
    const test = await start(strict);
    const response = await test.gateway.handler(chatRequest(members));
    const { error } = (await response.json()) as { error: { param: string; message: string } };
    expect(response.status).toBe(400);
    expect(error).toMatchObject({ param, message: expect.stringContaining(message) });
  });

  it("of the client's own pass byte for byte", async () => {
    const test = await start(strict);
    const tools = [
      own,
      { ...own, strict: true },
      { type: "custom", custom: { name: "g" } },
      { function: own.function },
    ];
    expect((await test.gateway.handler(chatRequest({ tools }))).status).toBe(200);
    expect(test.server.lastRequest.json.tools).toEqual(tools);
  });

  it("are counted", async () => {
    const test = await start(strict);
    const tools = new Array(3000).fill(own);
    const refused = { status: 400, code: "array_above_max_length", param: "tools" };
    expect(await refusalOf(test, chatRequest({ tools }))).toMatchObject(refused);
    const wide = { ...own, ...Object.fromEntries(Array.from({ length: 28 }, (_, at) => [`é${at}`, 1])) };
    expect(await refusalOf(test, chatRequest({ tools: new Array(600).fill(wide) }))).toMatchObject(refused);
  });

  it("of the server's pass where the model allows them", async () => {
    const test = await start(strict, { allowMembers: ["tools"] });
    expect((await test.gateway.handler(chatRequest({ tools: [{ type: "web_search" }] }))).status).toBe(200);
  });
});

describe("allowMembers", () => {
  it("lets members through by name, and nothing else", async () => {
    const test = await start(openRouter, { allowMembers: ["service_tier", "provider"] });
    const members = { service_tier: "flex", provider: { order: ["a"] } };
    expect((await test.gateway.handler(chatRequest(members))).status).toBe(200);
    expect(test.server.lastRequest.json).toMatchObject(members);
    expect(await refusalOf(test, chatRequest({ ...members, models: ["b"] }))).toMatchObject({ param: "models" });
    expect(await refusalOf(test, chatRequest({ Provider: {} }))).toMatchObject({ status: 400, param: "Provider" });
  });

  it("of a target replaces the model's; what one target refuses, the model refuses", async () => {
    const [a, b] = [await startFakeUpstream(), await startFakeUpstream()];
    const upstream = [
      { provider: "a", model: "m", allowMembers: ["service_tier"] },
      { provider: "b", model: "m", allowMembers: ["plugins"] },
    ];
    const test = await start(
      strict,
      {},
      {
        models: [{ ...smallModel, upstream, allowMembers: ["models"] }],
        providers: { a: strict({ baseURL: a.url, apiKey: "k" }), b: strict({ baseURL: b.url, apiKey: "k" }) },
      },
    );
    closers.push(
      () => a.close(),
      () => b.close(),
    );
    a.reply((_request, response) => void response.writeHead(500).end());
    expect((await test.gateway.handler(chatRequest({ service_tier: "flex" }))).status).toBe(200);
    expect(a.lastRequest.json).toMatchObject({ service_tier: "flex" });
    expect(b.lastRequest.json).not.toHaveProperty("service_tier");
    expect(await refusalOf(test, chatRequest({ plugins: ["web"] }))).toMatchObject({ param: "plugins" });
    expect(await refusalOf(test, chatRequest({ models: ["x"] }))).toMatchObject({ param: "models" });
  });

  it("takes no name that is not restricted, and says which was meant", async () => {
    const make = (model: Partial<Model>) => start(strict, model);
    await expect(make({ allowMembers: ["service_teir"] })).rejects.toThrow(
      'The model "acme/small" allows members that are not restricted: `service_teir` (did you mean `service_tier`?)',
    );
    const target = { provider: "fake", model: "m", allowMembers: ["temperature"] };
    await expect(make({ upstream: target })).rejects.toThrow("`temperature`");
  });
});

describe("a dialect's own rules", () => {
  const restricted = {
    service_tier: "refuse",
    plugins: "drop",
    models: "pass",
    my_cap: "refuse",
    my_tier: "drop",
  } as const;
  const make: Make = (options) => strict({ ...options, dialect: { restricted } });

  it("replace the general ones by name, and are added to them", async () => {
    const test = await start(make);
    const passing = { plugins: ["web"], models: ["m"], my_tier: "fast" };
    expect((await test.gateway.handler(chatRequest(passing))).status).toBe(200);
    expect(test.server.lastRequest.json).toMatchObject({ models: ["m"] });
    for (const name of ["plugins", "my_tier"]) expect(test.server.lastRequest.json).not.toHaveProperty(name);
    for (const name of ["service_tier", "my_cap", "n_predict", "My-Cap"]) {
      expect(await refusalOf(test, chatRequest({ [name]: "x" }))).toMatchObject({ status: 400, param: name });
    }
  });

  it("give way to the model's", async () => {
    const test = await start(make, { allowMembers: ["my_cap"] });
    expect((await test.gateway.handler(chatRequest({ my_cap: 5 }))).status).toBe(200);
    expect(test.server.lastRequest.json).toMatchObject({ my_cap: 5 });
  });

  it("hold for usual names, too, and for what is one with these to some server", async () => {
    const test = await start((options) =>
      openAICompatible({
        ...options,
        dialect: {
          restricted: { reasoning_effort: "refuse", metadata: "drop", user: "drop", seed: "refuse", Top_P: "refuse" },
        },
      }),
    );
    for (const [name, value] of [
      ["reasoning_effort", "high"],
      ["seed", 1],
      ["Seed", 1],
      ["top_p", 0.5],
      ["USER", "u"],
    ] as const) {
      expect(await refusalOf(test, chatRequest({ [name]: value }))).toMatchObject({ status: 400, param: name });
    }
    expect((await test.gateway.handler(chatRequest({ metadata: { a: "b" }, user: "u", stop: "x" }))).status).toBe(200);
    expect(test.server.lastRequest.json).toMatchObject({ stop: "x" });
    for (const name of ["metadata", "user"]) expect(test.server.lastRequest.json).not.toHaveProperty(name);
  });

  it.each([
    [{ max_tokens: "pass" }, "restricted.max_tokens"],
    [{ tools: "drop" }, "restricted.tools"],
    [{ plugins: "allow" }, "restricted.plugins"],
  ])("are checked: %j", (wrong, path) => {
    const dialect = { restricted: wrong as NonNullable<Dialect["restricted"]> };
    expect(() => openAICompatible({ baseURL: "http://localhost/v1", dialect })).toThrow(path);
  });
});
