import { afterEach, expect, it } from "vitest";
import type { RequestCompleted } from "../../../src/events/request-completed.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import type { Tags } from "../../../src/prices/tags.js";
import { memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

const answer = Buffer.from(JSON.stringify(chatAnswer()));

async function* answering() {
  yield answer;
}

/** A host whose own code writes into whatever it gets: some do so to pass it on with more in it. */
async function startCareless(options: Partial<GatewayOptions> = {}) {
  const seen: RequestCompleted[] = [];
  const spoil = (tags: Tags | undefined) => void (tags !== undefined && Reflect.set(tags, "member", "another"));
  test = await startTestGateway({
    keys: memoryKeyStore([{ key: "sk-pro", id: "key_1", account: "acct_1", plan: "pro", tags: { member: "42" } }]),
    providers: {
      fake: {
        call: async ({ tags }) => {
          spoil(tags);
          return { status: 200, headers: {}, body: answering() };
        },
      },
    },
    onRequest: ({ tags }) => {
      spoil(tags);
      return undefined;
    },
    onRequestCompleted: (event) => {
      seen.push(structuredClone(event));
      spoil(event.tags);
      event.tokens.input += 1000;
      event.tokens.cacheWrite = 7;
    },
    ...options,
  });
  return seen;
}

const nothing = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };

it("what a host writes into the tokens of one event is in no other, and in no sum of usage", async () => {
  const seen = await startCareless();
  for (let times = 0; times < 3; times++) await test.gateway.handler(chatRequest({ model: "acme/none" }));
  expect(seen.map(({ tokens }) => tokens)).toEqual([nothing, nothing, nothing]);
  expect((await test.gateway.handler(chatRequest())).status).toBe(200);
  const { tokens } = seen.at(-1) as RequestCompleted;
  expect(await test.gateway.usage({ where: { account: "acct_1" } })).toMatchObject([{ requests: 1, tokens }]);
});

it("what a host writes into the tags of one call is in no other call of the key, and none of the caller", async () => {
  const seen = await startCareless();
  const inProcess = test.gateway.as({ account: "acct_1", plan: "pro", anchor: null, tags: { member: "42" } });
  for (let times = 0; times < 2; times++) {
    expect((await test.gateway.handler(chatRequest())).status).toBe(200);
    const { url, body, method, headers } = chatRequest();
    const request = { method, headers, body: await new Response(body).text() };
    expect((await inProcess.fetch(inProcess.baseURL + new URL(url).pathname.slice(3), request)).status).toBe(200);
  }
  expect(seen.map(({ tags }) => tags)).toEqual(Array(4).fill({ member: "42" }));
  const { entries } = await test.gateway.accounts.history("acct_1");
  expect(entries.map(({ tags }) => tags["tag.member"])).toEqual(Array(4).fill("42"));
});
