import { afterEach, expect, it } from "vitest";
import { toDirectProvider } from "../../../../src/providers/direct-call.js";
import { memoryResponseStore } from "../../../../src/stores/memory/memory-response-store.js";
import { chatAnswer } from "../../../../src/testing.js";
import { smallModel, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

/** Longer than what is read in one go. */
const long = Buffer.from(JSON.stringify(chatAnswer({ content: "late ".repeat(400_000) })));
const short = Buffer.from(JSON.stringify(chatAnswer({ content: "in time" })));

const timeoutMs = 20;

/** A target whose answer comes in time, and is read beyond it. */
const slow = toDirectProvider(
  {},
  async () => ({
    ...{ status: 200, headers: {}, body: bodyOf(long) },
    takeWhole() {
      const until = performance.now() + 2 * timeoutMs;
      while (performance.now() < until);
      return long;
    },
  }),
  {},
);
const quick = toDirectProvider({}, async () => ({ status: 200, headers: {}, body: bodyOf(short) }), {});

async function* bodyOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

it("a response that comes in time is the client's, and kept once, however long it is read", async () => {
  const responses = memoryResponseStore();
  const kept: string[] = [];
  test = await startTestGateway({
    providers: { slow, quick },
    models: [
      {
        ...smallModel,
        upstream: [
          { provider: "slow", model: "one", timeoutMs },
          { provider: "quick", model: "two" },
        ],
      },
    ],
    responses: {
      ...responses,
      put: async (response) => {
        kept.push(response.response.slice(-400));
        await responses.put(response);
      },
    },
  });
  const ask = { model: "acme/small", input: "Hi" };
  const response = await test.gateway.handler(
    new Request("http://gateway.test/v1/responses", {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
      body: JSON.stringify(ask),
    }),
  );
  expect(await response.text()).toContain("late late");
  for (let turns = 0; turns < 300; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(kept).toHaveLength(1);
});
