import { afterAll, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatAnswer, chatChunks, eventStream, startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets, startServer } from "../../../e2e/clients/start-server.js";
import { chatRequest } from "../../../support/test-gateway.js";
import { greedy } from "./greedy-upstream.js";
import { bigModel, withBounded } from "./start-bounded.js";

afterAll(expectNoSockets);

const usageOf = (output: number) => ({ prompt_tokens: 5, completion_tokens: output, total_tokens: 5 + output });
const usage = usageOf(500);
const costly = [
  ["whole", false, wholeAnswer(chatAnswer({ usage }))],
  ["streamed", true, eventStream(chatChunks("Hello world", { usage }))],
] as const;

describe("an upstream that goes beyond its cap", () => {
  it.each(costly)("is charged in full, and warned of once: %s", (_how, stream, answer) =>
    withBounded({ target: "chat/completions" }, async ({ call, upstream, events, warnings }) => {
      upstream.reply(answer);
      for (let count = 1; count <= 3; count++) {
        await (await call("chat/completions", { max_tokens: 10, stream })).text();
        await expect.poll(() => events.length).toBe(count);
      }
      expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([5005, 5005, 5005]);
      expect(warnings).toMatchObject([{ code: "cost_above_hold", requestId: expect.stringMatching(/^req_/) }]);
      const held = events[0]?.heldMicro ?? 0;
      expect(held).toBeLessThan(200);
      const [{ message } = { message: "" }] = warnings;
      expect(message).toContain('The model "acme/small" at the provider "fake" (there "upstream-small")');
      expect(message).toContain(`cost 0.005005 credits, which were charged, and ${held / 1e6} were held`);
      expect(message).toContain("500 of output for 10");
    })(),
  );

  it(
    "is not warned of where it uses all that is held",
    withBounded({ target: "chat/completions" }, async ({ call, upstream, events, warnings }) => {
      upstream.reply(wholeAnswer(chatAnswer({ usage: usageOf(10) })));
      await (await call("chat/completions", { max_tokens: 10 })).text();
      await expect.poll(() => events.length).toBe(1);
      expect(warnings).toEqual([]);
    }),
  );
});

describe("failed attempts that are charged", () => {
  it("are held, too", async () => {
    const upstream = await startFakeUpstream();
    const targets = ["a", "b", "c"].map((model) => ({ provider: "fake", model }));
    const server = await startServer({
      models: [{ ...bigModel, maxOutputTokens: 100, upstream: targets, chargeFailedAttempts: true }],
      providers: { fake: openAICompatible({ baseURL: upstream.url }) },
    });
    try {
      // Two of them report what they have used, and that they failed.
      const failed = wholeAnswer(
        { error: { message: "x", type: "server_error" }, usage: usageOf(100) },
        { status: 500 },
      );
      upstream.replyOnce(failed);
      upstream.replyOnce(failed);
      upstream.reply(greedy(100));
      expect((await server.gateway.handler(chatRequest({}))).status).toBe(200);
      expect(server.events[0]).toMatchObject({ chargedMicro: 3 * 1005 });
      expect(server.events[0]?.heldMicro).toBeGreaterThanOrEqual(3 * 1005);
      expect(server.warnings.map(({ code }) => code)).not.toContain("cost_above_hold");
    } finally {
      await server.close();
      await upstream.close();
    }
  });

  it("cost no more together than can be counted", async () => {
    const upstream = await startFakeUpstream();
    const price = { input: 0, output: 0, request: 9_000_000_000 };
    const server = await startServer({
      models: [
        {
          ...{ ...bigModel, price, chargeFailedAttempts: true },
          upstream: ["a", "b"].map((model) => ({ provider: "fake", model })),
        },
      ],
      plans: memoryPlanStore({ pro: { models: ["acme/*"] } }),
      providers: { fake: openAICompatible({ baseURL: upstream.url }) },
    });
    try {
      upstream.replyOnce(
        wholeAnswer({ error: { message: "x", type: "server_error" }, usage: usageOf(1) }, { status: 500 }),
      );
      upstream.reply(greedy(1));
      expect((await server.gateway.handler(chatRequest({}))).status).toBe(200);
      expect(server.events).toMatchObject([{ chargedMicro: Number.MAX_SAFE_INTEGER }]);
      expect(server.warnings.map(({ code }) => code)).not.toContain("ledger_failed");
    } finally {
      await server.close();
      await upstream.close();
    }
  });
});
