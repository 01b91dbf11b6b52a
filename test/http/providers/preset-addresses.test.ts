import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { embeddingModel, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { type AddressSample, chatBody, embeddingsBody, streamBody } from "./addresses/address-sample.js";
import { azureAddress, azureDatedAddress } from "./addresses/azure-openai.js";
import { deepSeekAddress, groqAddress, mistralAddress, openAIAddress, openRouterAddress } from "./addresses/hosted.js";
import { interceptServers } from "./addresses/intercept-servers.js";
import { llamaCppAddress, ollamaAddress, vllmAddress } from "./addresses/local-servers.js";
import type { ErrorSample, WholeSample } from "./dialects/dialect-sample.js";

/*
 * The presets at their real addresses, over `fetch`, which is intercepted: what reaches the server is in the samples,
 * what reaches the client is in the text files beside them. To write those anew:
 * `npx vitest run --config test/vitest.config.ts test/http/providers/preset-addresses --update`.
 */

const samples = [
  openAIAddress,
  azureAddress,
  azureDatedAddress,
  openRouterAddress,
  groqAddress,
  mistralAddress,
  deepSeekAddress,
  ollamaAddress,
  vllmAddress,
  llamaCppAddress,
];

/** The headers by which a client identifies itself. Upstreams must not get them. */
const clientHeaders = {
  authorization: "Bearer sk-pro",
  "api-key": "sk-pro",
  "content-type": "application/json; charset=utf-8",
  accept: "*/*",
  "accept-language": "de",
  "user-agent": "OpenAI/JS 6.49.0",
  cookie: "session=s3cret",
  origin: "https://app.acme.test",
  referer: "https://app.acme.test/chat",
  "idempotency-key": "stainless-node-retry-1",
  "openai-organization": "org-client",
  "openai-project": "proj-client",
  "x-forwarded-for": "203.0.113.7",
  "x-request-id": "req_client",
  "x-stainless-lang": "js",
};

const servers = interceptServers();

describe.each(samples)("$name, at its own address", (sample) => {
  const { chat, embeddings } = sample;
  const transcript: string[] = [];
  let test: TestGateway;
  beforeEach(async () => {
    test = await startAt(sample);
  });
  afterEach(() => test.close());

  async function ask(name: string, path: string, body: string): Promise<{ response: Response; text: string }> {
    const request = new Request(`http://gateway.test${path}`, { method: "POST", headers: clientHeaders, body });
    const response = await test.gateway.handler(request);
    const text = await response.text();
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    transcript.push(steady(`## ${name}\n${[response.status, ...headers].join("\n")}\n\n${text}`));
    return { response, text };
  }

  it("answers a chat", async () => {
    servers.answerAt(chat.url, answerOf(sample, "application/json", chat.recorded.whole.body));
    const { response, text } = await ask("chat", "/v1/chat/completions", chatBody);
    expect(servers.received).toEqual([requestTo(sample, chat.url, "application/json", chat.whole)]);
    expect(response.status).toBe(200);
    const choice = { message: { content: chat.recorded.whole.content } };
    expect(JSON.parse(text)).toMatchObject({ model: "acme/small", choices: [choice] });
    expectTokens(test, chat.recorded.whole.tokens);
  });

  it("streams a chat", async () => {
    servers.answerAt(chat.url, answerOf(sample, "text/event-stream", chat.recorded.stream.body));
    const { response, text } = await ask("streamed chat", "/v1/chat/completions", streamBody);
    expect(servers.received).toEqual([requestTo(sample, chat.url, "text/event-stream", chat.stream)]);
    expect(response.status).toBe(200);
    expect(contentOf(text)).toBe(chat.recorded.stream.content);
    expect(text.endsWith("\n\ndata: [DONE]\n\n")).toBe(true);
    expectTokens(test, chat.recorded.stream.tokens);
  });

  it.skipIf(embeddings === undefined)("answers with embeddings", async () => {
    if (embeddings === undefined) return;
    servers.answerAt(embeddings.url, answerOf(sample, "application/json", embeddings.answer));
    const { response, text } = await ask("embeddings", "/v1/embeddings", embeddingsBody);
    expect(servers.received).toEqual([requestTo(sample, embeddings.url, "application/json", embeddings.body)]);
    expect(response.status).toBe(200);
    const data = [{ embedding: [-0.0069292834, 2.5e-5] }, { embedding: [0.0134578, -1] }];
    expect(JSON.parse(text)).toMatchObject({ model: "acme/embed", data });
    expect(test.events.at(-1)).toMatchObject({ usageSource: "provider" });
  });

  it(`tells ${chat.error.what}`, async () => {
    const { status, headers, body } = errorOf(sample);
    const answer = answerOf(sample, "application/json", body);
    servers.answerAt(chat.url, { ...answer, status, headers: { ...answer.headers, ...headers } });
    const { response, text } = await ask(chat.error.what, "/v1/chat/completions", chatBody);
    expect(servers.received).toEqual([requestTo(sample, chat.url, "application/json", chat.whole)]);
    const { code } = JSON.parse(text).error;
    expect({ status: response.status, code }).toEqual({ status: chat.error.status, code: chat.error.code });
    expect(test.events.at(-1)).toMatchObject({ chargedMicro: 0 });
  });

  it("has given the client what is on file", async () => {
    const file = new URL(`addresses/${sample.name.toLowerCase().replace(/[^a-z]+/g, "-")}.txt`, import.meta.url);
    await expect(`${transcript.join("\n\n")}\n`).toMatchFileSnapshot(fileURLToPath(file));
  });
});

it("calls no address at which no answer is arranged", async () => {
  const said = vi.spyOn(console, "error").mockReturnValue();
  await expect(fetch("https://api.openai.com/v1/models")).rejects.toThrow('"error" strategy');
  expect(said).toHaveBeenCalledOnce();
  said.mockRestore();
});

/** A gateway whose only upstream is the preset's own address. */
function startAt({ make, chat, embeddings }: AddressSample): Promise<TestGateway> {
  const at = (model: string) => ({ upstream: { provider: "preset", model } });
  return startTestGateway({
    clock: { now: () => Date.UTC(2026, 0, 15, 12) },
    // Without limits, so that the responses have no headers about them.
    plans: memoryPlanStore({ pro: { models: ["acme/*"] } }),
    // Looked up now, while it is the intercepted one.
    providers: { preset: make({ apiKey: "sk-upstream", fetch: globalThis.fetch }) },
    models: [
      { ...smallModel, ...at(chat.model) },
      ...(embeddings === undefined ? [] : [{ ...embeddingModel, ...at(embeddings.model) }]),
    ],
  });
}

function answerOf({ serverHeaders }: AddressSample, contentType: string, body: string) {
  return { status: 200, headers: { ...serverHeaders, "content-type": contentType }, body };
}

/** All of it: a header more, and the test fails. */
function requestTo({ key }: AddressSample, url: string, accept: string, body: string) {
  const own = { "accept-encoding": "identity", "content-type": "application/json", "user-agent": "infergate" };
  return { method: "POST", url, headers: { accept, ...own, ...key }, body };
}

function errorOf({ chat }: AddressSample): ErrorSample {
  const error = chat.recorded.errors.find(({ what }) => what === chat.error.what);
  if (error === undefined) throw new Error(`There is no recorded error "${chat.error.what}".`);
  return error;
}

function contentOf(stream: string): string {
  const events = stream.split("\n\n").filter((event) => event.startsWith("data: {"));
  return events.map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? "").join("");
}

function expectTokens(test: TestGateway, [input, cachedInput, output, reasoning]: WholeSample["tokens"]): void {
  const tokens = { input, cachedInput, output, reasoning };
  expect(test.events.at(-1)).toMatchObject({ usageSource: "provider", tokens });
  // The recorded answers are to requests without these caps.
  expect(test.warnings.filter(({ code }) => code !== "cost_above_hold")).toEqual([]);
}

/** Without what no two runs have in common. */
function steady(text: string): string {
  return text.replace(/(req_|chatcmpl-)[0-9a-f]{8}-?[0-9a-f-]{12,}/g, "$1…");
}
