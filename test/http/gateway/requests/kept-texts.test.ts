import { afterEach, expect, it } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { KeepTexts } from "../../../../src/gateway/request-log/request-log-options.js";
import type { LoggedTexts } from "../../../../src/request-log/request-log.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { chatChunks, createGate, eventStream, honestChat } from "../../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(() => test?.close());

async function start(keepTexts: boolean | KeepTexts | undefined, options: Partial<GatewayOptions> = {}) {
  test = await startTestGateway({ requestLog: { store: memoryRequestLog(), keepTexts }, ...options });
  return test;
}

interface Asked {
  readonly path?: string;
  readonly body?: object;
  readonly key?: string;
}

const messages = [{ role: "user", content: "My name is Ann." }];
const chat = { model: "acme/small", messages };

/** Asks, reads all of the response, and gives the line. */
async function lineOf(
  { gateway }: TestGateway,
  { path = "chat/completions", body = chat, key = "sk-pro" }: Asked = {},
) {
  const response = await gateway.handler(
    new Request(`http://localhost/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
  const sent = await response.text();
  const line = await gateway.requests.get(response.headers.get("x-request-id") ?? "");
  return { status: response.status, sent, line, texts: line?.texts };
}

const words = "Hello wide world";

it.each<[string, Asked]>([
  ["chat completions", {}],
  ["a stream of chat completions", { body: { ...chat, stream: true } }],
  ["messages", { path: "messages", body: { ...chat, max_tokens: 9 } }],
  ["a stream of messages", { path: "messages", body: { ...chat, max_tokens: 9, stream: true } }],
  ["responses", { path: "responses", body: { model: "acme/small", input: "My name is Ann." } }],
  [
    "a stream of responses",
    { path: "responses", body: { model: "acme/small", input: "My name is Ann.", stream: true } },
  ],
])("keeps what was asked and answered: %s", async (_, asked) => {
  const started = await start(true);
  started.upstream.replyOnce(honestChat(words));
  const { status, texts } = await lineOf(started, asked);
  expect([status, texts]).toEqual([200, { request: JSON.stringify(asked.body ?? chat), answer: words }]);
  const listed = await started.gateway.requests.list();
  expect(JSON.stringify([listed, started.events])).not.toMatch(/Ann|Hello/);
});

it.each([undefined, false])("keeps none unless it is told to: %s", async (keepTexts) => {
  const started = await start(keepTexts);
  const { line } = await lineOf(started);
  expect(line).toMatchObject({ status: 200 });
  expect(line).not.toHaveProperty("texts");
});

it("keeps the beginnings only, in whole characters", async () => {
  const started = await start({ maxCharacters: 12 });
  for (const stream of [false, true]) {
    started.upstream.replyOnce(honestChat(`${"é".repeat(11)}\u{1f600}${" word".repeat(5_000)}`));
    const { texts } = await lineOf(started, { body: { ...chat, stream } });
    expect(texts).toEqual({ request: JSON.stringify(chat).slice(0, 12), answer: `${"é".repeat(11)}\ufffd` });
  }
});

it("keeps what came of a stream that broke off, and what was asked in a request that was refused", async () => {
  const started = await start(true);
  const gate = createGate();
  started.upstream.replyOnce(eventStream(chatChunks(words).slice(0, 3), { end: "reset", gate }));
  gate.step(4);
  const response = await started.gateway.handler(chatRequest({ stream: true }));
  for await (const _ of response.body ?? []) gate.open();
  const broken = await started.gateway.requests.get(response.headers.get("x-request-id") ?? "");
  expect(broken).toMatchObject({ status: 200, endReason: "upstream_failed" });
  const { answer = "" } = broken?.texts ?? {};
  expect([answer === "", words.startsWith(answer.trim())]).toEqual([false, true]);
  const refused = await lineOf(started, { body: { ...chat, model: "acme/none" } });
  expect([refused.status, refused.texts]).toEqual([404, { request: JSON.stringify({ ...chat, model: "acme/none" }) }]);
  const unknown = await lineOf(started, { key: "sk-none" });
  expect([unknown.status, unknown.texts]).toEqual([401, undefined]);
});

it("keeps what a guard lets its client have", async () => {
  const guard = { name: "no-names", answer: () => ({ refuse: "No." }) };
  const started = await start(true, { guards: [guard] });
  for (const stream of [false, true]) {
    started.upstream.replyOnce(honestChat(words));
    const { texts, sent } = await lineOf(started, { body: { ...chat, stream } });
    expect([texts?.answer, sent.includes("wide")]).toEqual(["No.", false]);
  }
});

it("keeps what the host's redaction leaves", async () => {
  const given: unknown[] = [];
  const started = await start({
    redact: (texts, line) => {
      given.push([line.account, line.status, line.texts]);
      line.account = "changed";
      return { request: texts.request?.replaceAll("Ann", "[name]") };
    },
  });
  const { line, texts } = await lineOf(started);
  expect(texts).toEqual({ request: JSON.stringify(chat).replace("Ann", "[name]") });
  expect([line?.account, given]).toEqual(["acct_pro", [["acct_pro", 200, undefined]]]);
});

it.each<[string, (texts: LoggedTexts) => unknown, warnings: string[]]>([
  [
    "throws",
    () => {
      throw new Error("A mistake.");
    },
    ["hook_failed"],
  ],
  [
    "rejects",
    async () => {
      throw new Error("A mistake.");
    },
    ["hook_failed"],
  ],
  ["is async", async (texts) => texts, ["hook_failed"]],
  ["returns what is no text", () => ({ request: 1 }), ["hook_failed"]],
  ["returns another member", (texts) => ({ ...texts, key: "sk" }), ["hook_failed"]],
  ["returns nothing", () => undefined, []],
])("keeps none where the redaction %s, and the line is there", async (_, redact, warnings) => {
  const started = await start({ redact: redact as KeepTexts["redact"] });
  const { line } = await lineOf(started);
  expect(line).toMatchObject({ status: 200, account: "acct_pro" });
  expect(line).not.toHaveProperty("texts");
  expect(started.warnings.map(({ code }) => code)).toEqual(warnings);
});

it("has texts of none of the many that one line stands for", async () => {
  const store = memoryRequestLog();
  test = await startTestGateway({ requestLog: { store, keepTexts: true }, clock: { now: () => 1_800_000_000_000 } });
  for (let count = 0; count < 23; count++) await lineOf(test, { body: { ...chat, model: `acme/none-${count}` } });
  await test.close();
  const { requests } = await store.list();
  const many = requests.find(({ count }) => count !== undefined);
  expect(many).toMatchObject({ count: 3, account: "acct_pro" });
  expect(await store.get(many?.requestId ?? "")).not.toHaveProperty("texts");
});

it.each([0, 65_537, 1.5])("refuses a bound of %s characters", async (maxCharacters) => {
  await expect(start({ maxCharacters })).rejects.toThrow("requestLog");
});
