import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { anthropic, cohere, openAI } from "../../../src/providers/presets.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { startFakeUpstream } from "../../../src/testing.js";
import { expressAdapter } from "../../support/adapters/express-adapter.js";
import { fastifyAdapter } from "../../support/adapters/fastify-adapter.js";
import { fetchAdapter, honoAdapter, routeHandlersAdapter } from "../../support/adapters/fetch-adapter.js";
import { type Adapter, type Host, type HostedGateway, startHosted } from "../../support/adapters/host.js";
import { nodeAdapter } from "../../support/adapters/node-adapter.js";
import { openRaw } from "../../support/adapters/raw-connection.js";
import { embeddingModel, freeModel, largeModel, smallModel } from "../../support/test-gateway.js";
import { goldenCases as casesOfOpenAI, type GoldenCase } from "./golden-cases.js";
import { goldenMedia } from "./golden-media.js";
import { goldenMessages } from "./golden-messages.js";

/*
 * What goes over the wire, byte for byte, as it is kept beside this file: any change of it is seen in review.
 * `npx vitest run --config test/vitest.config.ts test/meta/golden --update` writes the files anew.
 */

const goldenCases = [...casesOfOpenAI, ...goldenMessages, ...goldenMedia];

const now = Date.UTC(2026, 0, 15, 12);

const adapters: readonly Adapter[] = [
  nodeAdapter,
  expressAdapter("Express 4"),
  expressAdapter("Express 5"),
  fastifyAdapter("Fastify 4"),
  fastifyAdapter("Fastify 5"),
  honoAdapter,
  routeHandlersAdapter,
  fetchAdapter,
];

const answers = new Map<string, string>();

describe.each(adapters)("through $name", (adapter) => {
  let hosted: HostedGateway;
  const heads: string[] = [];
  const ids = new Map<string, string>();
  beforeAll(async () => {
    hosted = await startGolden(adapter);
  });
  afterAll(() => hosted.close());

  it.each(goldenCases)("$name", async (golden) => {
    for (const answer of [golden.upstream, golden.next]) if (answer !== undefined) hosted.upstream.replyOnce(answer);
    const { head, body } = await ask(hosted.host, golden, ids);
    heads.push(`## ${golden.name}\n${head}`);
    const before = answers.get(golden.name);
    if (before === undefined) answers.set(golden.name, body);
    else expect(body).toBe(before);
  });

  it("has the heads on file", async () => {
    await expect(`${heads.join("\n\n")}\n`).toMatchFileSnapshot(fileFor(`heads of ${adapter.name}`));
  });
});

describe("behind all of them", () => {
  it("are the bodies on file", async () => {
    const bodies = [...answers].map(([name, body]) => `## ${name}\n${body}`);
    await expect(`${bodies.join("\n\n")}\n`).toMatchFileSnapshot(fileFor("bodies"));
  });

  it("are the upstream's requests on file", async () => {
    const hosted = await startGolden(nodeAdapter);
    const requests: string[] = [];
    const ids = new Map<string, string>();
    for (const golden of goldenCases.filter(({ upstream }) => upstream !== undefined)) {
      for (const answer of [golden.upstream, golden.next]) if (answer !== undefined) hosted.upstream.replyOnce(answer);
      await ask(hosted.host, golden, ids);
      const { method, url, rawHeaders, body } = hosted.upstream.lastRequest;
      const headers = pairs(rawHeaders).map(([name, value]) => `${name}: ${name === "host" ? "…" : value}`);
      const request = `## ${golden.name}\n${method} ${url}\n${headers.join("\n")}\n\n${body.toString("utf8")}`;
      requests.push(steady(request));
    }
    await hosted.close();
    await expect(`${requests.join("\n\n")}\n`).toMatchFileSnapshot(fileFor("upstream requests"));
  });
});

function fileFor(name: string): string {
  return fileURLToPath(new URL(`${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.txt`, import.meta.url));
}

const twice = (model: string) => ["media", "spare"].map((provider) => ({ provider, model }));

const mediaModels: readonly Model[] = [
  {
    id: "media/draw",
    type: "image",
    price: { input: 5, inputImage: 10, outputImage: 40 },
    upstream: twice("gpt-image-1"),
  },
  { id: "media/say", type: "speech", price: { characters: 15 }, upstream: twice("tts-1") },
  { id: "media/hear", type: "transcription", price: { audioMinute: 0.006 }, upstream: twice("whisper-1") },
  { id: "media/judge", type: "moderation", price: { request: 0.001 }, upstream: twice("moderation") },
  {
    ...{ id: "media/rank", type: "rerank", price: { searches: 2 } },
    upstream: ["ranking", "other"].map((provider) => ({ provider, model: "rerank-up" })),
  },
  { ...smallModel, id: "media/twice", upstream: twice("upstream-small") },
];

async function startGolden(adapter: Adapter): Promise<HostedGateway> {
  const clock = { now: () => now };
  const upstream = await startFakeUpstream();
  const hosted = await startHosted(
    adapter,
    { prefix: "", position: "before" },
    {
      clock,
      ledger: memoryCreditLedger({ clock }),
      secret: "what the golden thoughts are signed with",
      keys: memoryKeyStore([
        { key: "sk-pro", id: "key_pro", account: "acct_pro", plan: "pro" },
        { key: "sk-basic", id: "key_basic", account: "acct_basic", plan: "basic" },
        { key: "sk-poor", id: "key_poor", account: "acct_poor", plan: "poor" },
        { key: "sk-claude", id: "key_claude", account: "acct_claude", plan: "claude" },
        { key: "sk-media", id: "key_media", account: "acct_media", plan: "media" },
        { key: "sk-slow", id: "key_slow", account: "acct_slow", plan: "slow" },
      ]),
      plans: memoryPlanStore({
        pro: { models: ["acme/*"], credits: { session: 100, week: 500, month: 1500 } },
        basic: { models: ["acme/small"] },
        poor: { models: ["acme/*"], credits: { week: 0 } },
        claude: { models: ["claude/*"], credits: { session: 100 } },
        media: { models: ["media/*"], credits: { month: 1500 } },
        slow: { models: ["slow/*"], credits: { session: 100, week: 500, month: 1500 } },
      }),
      models: [
        smallModel,
        largeModel,
        freeModel,
        embeddingModel,
        { ...smallModel, id: "acme/native", upstream: { provider: "native", model: "upstream-small" } },
        {
          ...{ id: "acme/moderation", type: "moderation", contextLength: 32_768, price: { input: 0 } },
          upstream: { provider: "native", model: "omni-moderation-latest" },
        },
        {
          ...{ id: "acme/rerank", type: "rerank", price: { searches: 2 } },
          upstream: { provider: "ranking", model: "rerank-up" },
        },
        ...mediaModels,
        { ...smallModel, id: "claude/small", upstream: { provider: "claude", model: "claude-up" } },
        { ...smallModel, id: "slow/small", upstream: { provider: "silent", model: "upstream-small" } },
      ],
      providers: {
        fake: openAICompatible({ baseURL: upstream.url, apiKey: "sk-upstream-secret" }),
        media: openAI({ baseURL: upstream.url, apiKey: "sk-upstream-secret" }),
        spare: openAI({ baseURL: upstream.url, apiKey: "sk-upstream-spare" }),
        native: openAI({ baseURL: upstream.url, apiKey: "sk-upstream-secret" }),
        ranking: cohere({ baseURL: upstream.url, apiKey: "sk-upstream-secret" }),
        other: cohere({ baseURL: upstream.url, apiKey: "sk-upstream-other" }),
        claude: anthropic({ baseURL: upstream.url, apiKey: "sk-ant-upstream" }),
        // The only one that is given up.
        silent: openAICompatible({ baseURL: upstream.url, timeoutMs: 50 }),
      },
    },
  );
  return {
    ...hosted,
    upstream,
    close: async () => {
      await hosted.close();
      await upstream.close();
    },
  };
}

interface Answer {
  head: string;
  body: string;
}

/** @param ids - those of the responses so far, by the names of their cases. */
async function ask(host: Host, golden: GoldenCase, ids: Map<string, string>): Promise<Answer> {
  const filled = (text: string) => text.replace(/\{(response[^{}]*)\}/g, (_all, name: string) => ids.get(name) ?? name);
  const { path = "/", body: asked } = golden;
  const meant = { ...golden, path: filled(path), ...(asked === undefined ? {} : { body: filled(asked) }) };
  const { head, body } = host.origin === undefined ? await askHandler(host, meant) : await askServer(host, meant);
  const id = /"id":"(resp_[0-9a-f]+)"/.exec(body)?.[1];
  if (id !== undefined && !ids.has(golden.name)) ids.set(golden.name, id);
  return { head: steady(head), body: steady(body) };
}

/** What no two runs have in common. */
function steady(text: string): string {
  return text
    .replace(/(req_|chatcmpl-|resp_|msg_|rerank-)[0-9a-f-]{20,}/g, "$1…")
    .replace(/("[a-z]+_ig_)[0-9a-f]+(_\d+(?:_[\w-]+)?")/g, "$1…$2")
    .replace(/infergate-[0-9a-f-]{36}/g, "…")
    .replace(/^date: .*$/gim, (line) => `${line.slice(0, 4)}: …`);
}

function headersOf({ key = "sk-pro", headers, body }: GoldenCase): Record<string, string> {
  return {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  };
}

async function askHandler(host: Host, golden: GoldenCase): Promise<Answer> {
  const { method = "GET", path = "/", body } = golden;
  const init = { method, headers: headersOf(golden), ...(body === undefined ? {} : { body }) };
  const response = await host.fetch(path, init);
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  return { head: [String(response.status), ...headers].join("\n"), body: await response.text() };
}

async function askServer(host: Host, golden: GoldenCase): Promise<Answer> {
  const { method = "GET", path = "/", body } = golden;
  const connection = await openRaw(host.origin);
  const headers = Object.entries({ host: "gateway.test", connection: "close", ...headersOf(golden) });
  const length = body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  connection.send(
    `${method} ${path} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...length,
    "",
    body ?? "",
  );
  const received = await connection.closed;
  const end = received.indexOf("\r\n\r\n");
  const head = received.slice(0, end).replaceAll("\r\n", "\n");
  const rest = received.slice(end + 4);
  const bytes = /^transfer-encoding: chunked$/im.test(head) ? unchunk(rest) : rest;
  return { head, body: Buffer.from(bytes, "latin1").toString("utf8") };
}

/** The body without its framing, which depends on how the pieces came. */
function unchunk(text: string): string {
  let body = "";
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(length > 0)) return body;
    body += text.slice(lineEnd + 2, lineEnd + 2 + length);
    at = lineEnd + 2 + length + 2;
  }
}

function pairs(rawHeaders: readonly string[]): [name: string, value: string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ""] as [string, string]] : [],
  );
}
