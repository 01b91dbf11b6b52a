import OpenAI from "openai";
import { afterEach, expect, it } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import { getRequest, smallModel, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

async function start(options: Partial<GatewayOptions> = {}) {
  test = await startTestGateway({ requestLog: memoryRequestLog(), ...options });
  const client = (apiKey: string) =>
    new OpenAI({
      apiKey,
      baseURL: "http://gateway.test/v1",
      maxRetries: 0,
      fetch: (input, init) => test.gateway.handler(new Request(input as string, init)),
    });
  return { client, requests: test.gateway.requests };
}

const chat = { model: "acme/small", messages: [{ role: "user" as const, content: "A secret prompt." }] };

it("has one line for a call, with what it cost and nothing of what was said", async () => {
  const { client, requests } = await start();
  const { _request_id, usage } = await client("sk-pro").chat.completions.create(chat);
  const line = await requests.get(_request_id ?? "");
  expect(line).toMatchObject({
    requestId: _request_id,
    callId: _request_id,
    endpoint: "chat/completions",
    source: "key",
    keyId: "key_pro",
    account: "acct_pro",
    plan: "pro",
    model: "acme/small",
    target: "fake/upstream-small",
    stream: false,
    status: 200,
    endReason: "completed",
    tokens: { input: usage?.prompt_tokens, output: usage?.completion_tokens },
    chargedMicro: test.events[0]?.chargedMicro,
    funding: "plan",
    attempts: [{ provider: "fake", model: "upstream-small", status: 200, outcome: "completed" }],
  });
  expect(line?.errorCode).toBeUndefined();
  expect(JSON.stringify(line)).not.toContain("secret");
});

it("has streams, lists of models and refusals of each kind, and finds them by what they are", async () => {
  const { client, requests } = await start();
  for await (const _ of await client("sk-pro").chat.completions.create({ ...chat, stream: true }));
  await client("sk-pro").models.list();
  const refusals: readonly (readonly [number, () => Promise<unknown>])[] = [
    [401, () => client("sk-wrong").chat.completions.create(chat)],
    [404, () => client("sk-pro").chat.completions.create({ ...chat, model: "acme/none" })],
    [403, () => client("sk-narrow").chat.completions.create({ ...chat, model: "acme/large" })],
    [400, () => client("sk-pro").chat.completions.create({ ...chat, messages: "x" as never })],
  ];
  for (const [status, call] of refusals) await expect(call()).rejects.toMatchObject({ status });
  await test.gateway.handler(getRequest("/v1/unknown"));

  const { requests: lines } = await requests.list();
  expect(lines.map(({ status }) => status).sort()).toEqual([200, 200, 400, 401, 403, 404, 404]);
  expect(lines.filter(({ stream }) => stream)).toHaveLength(1);
  const statusesOf = async (query: object) => (await requests.list(query)).requests.map(({ status }) => status);
  expect(await statusesOf({ status: 401 })).toEqual([401]);
  expect((await requests.list({ status: 401 })).requests[0]).toMatchObject({ attempts: [], chargedMicro: 0 });
  expect((await requests.list({ status: 401 })).requests[0]?.account).toBeUndefined();
  expect(await statusesOf({ code: "model_not_found", account: "acct_pro" })).toEqual([404]);
  expect(await statusesOf({ key: "key_narrow", status: "4xx" })).toEqual([403]);
  expect(await statusesOf({ target: "fake/upstream-small", account: "acct_pro" })).toEqual([200]);
});

it("has the id of a model that was called by an alias, and finds it by both", async () => {
  const { client, requests } = await start({ models: [{ ...smallModel, aliases: ["gpt-5-codex"] }] });
  await client("sk-pro").chat.completions.create({ ...chat, model: "gpt-5-codex" });
  const line = { model: "acme/small", requestedModel: "gpt-5-codex" };
  expect((await requests.list({ model: "acme/small" })).requests).toMatchObject([line]);
  expect((await requests.list({ model: "gpt-5-codex" })).requests).toMatchObject([line]);
});

it("has the beginning of a name that no model has", async () => {
  const { client, requests } = await start();
  const names = ["gpt-6", "x\u0000y", `${"n".repeat(255)}\u{1f600}`];
  for (const model of names)
    await client("sk-pro")
      .chat.completions.create({ ...chat, model })
      .catch(() => {});
  const asked = (await requests.list()).requests.map(({ status, model, requestedModel }) => [
    status,
    model,
    requestedModel,
  ]);
  expect(asked.toReversed()).toEqual([
    [404, undefined, "gpt-6"],
    [404, undefined, "x\ufffdy"],
    [404, undefined, `${"n".repeat(255)}\ufffd`],
  ]);
  expect((await requests.list({ model: "gpt-6", code: "model_not_found" })).requests).toHaveLength(1);
  expect(test.events.map(({ requestedModel }) => requestedModel?.length)).toEqual([5, 3, 256]);
});

it("says what a filter by status may be", async () => {
  const { requests } = await start();
  for (const status of ["429", "lala", 42, ["4xx", "x"]] as never[]) {
    await expect(requests.list({ status })).rejects.toThrow(
      /status[^:]*: .*must be a status such as 429, a class such as "4xx"/,
    );
  }
});

it("has all attempts of a call, without what the upstream said", async () => {
  const broken = await startFakeUpstream();
  broken.replyOnce(wholeAnswer({ error: { message: "The prompt was: A secret prompt." } }, { status: 500 }));
  const { client, requests } = await start({
    models: [
      {
        ...smallModel,
        upstream: [
          { provider: "broken", model: "b" },
          { provider: "well", model: "w" },
        ],
      },
    ],
    providers: {
      broken: openAICompatible({ baseURL: broken.url, apiKey: "k" }),
      well: openAICompatible({ baseURL: broken.url, apiKey: "k" }),
    },
  });
  const { _request_id } = await client("sk-pro").chat.completions.create(chat);
  const line = await requests.get(_request_id ?? "");
  expect(line?.attempts).toMatchObject([
    { provider: "broken", status: 500, outcome: "upstream_failed" },
    { provider: "well", status: 200, outcome: "completed" },
  ]);
  expect(line?.target).toBe("well/w");
  expect(JSON.stringify(line)).not.toContain("secret");
  await broken.close();
});

it("is missing where no log is given, and says what to give", async () => {
  const { requests } = await start({ requestLog: undefined });
  await expect(requests.list()).rejects.toMatchObject({
    status: 501,
    message: expect.stringContaining("`requestLog`"),
  });
  await expect(requests.get("req_1")).rejects.toMatchObject({ status: 501 });
  expect(test.gateway.health().requestLog).toBeUndefined();
});

it("forgets an account with what waits", async () => {
  const { client, requests } = await start();
  await client("sk-pro").chat.completions.create(chat);
  await client("sk-basic").chat.completions.create(chat);
  await test.gateway.accounts.forget("acct_pro");
  expect((await requests.list()).requests.map(({ account }) => account)).toEqual(["acct_basic"]);
});
