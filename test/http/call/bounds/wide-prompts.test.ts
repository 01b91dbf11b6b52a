import { afterAll, describe, expect, it } from "vitest";
import { chatAnswer, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { noise } from "../../../support/text-samples.js";
import { greedy } from "./greedy-upstream.js";
import { withBounded } from "./start-bounded.js";

afterAll(expectNoSockets);

/** 40,000 characters without a space: at least 313 tokens, at most some 30,000. */
const text = noise(20_000).toString("hex");
const prompt = { messages: [{ role: "user", content: text }], max_tokens: 1 };
/** What the text really counts for a model of whatever context. */
const realTokens = 24_000;
const model = { contextLength: 4000, maxOutputTokens: 100, price: { input: 1, output: 0 } };

describe("a prompt that may be longer than the model's context", () => {
  it(
    "is held at all that it can count, so that calls at once overspend by less than one of them",
    withBounded(
      { target: "chat/completions", model, plan: { credits: { session: 0.02 } } },
      async ({ call, upstream, events, warnings }) => {
        upstream.reply(greedy(100, realTokens));
        const responses = await Promise.all(Array.from({ length: 10 }, () => call("chat/completions", prompt)));
        await Promise.all(responses.map((response) => response.text()));
        await expect.poll(() => events.length).toBe(10);
        expect(events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0)).toBe(realTokens);
        expect(warnings).toEqual([]);
      },
    ),
  );

  it(
    "is charged at no more than the context, where nobody has counted it",
    withBounded({ target: "chat/completions", model }, async ({ call, upstream, events }) => {
      upstream.reply(wholeAnswer(chatAnswer({ usage: null })));
      await (await call("chat/completions", prompt)).text();
      await expect.poll(() => events.length).toBe(1);
      expect(events[0]?.tokens.input).toBe(4000);
    }),
  );

  it(
    "counts against rates as it is held",
    withBounded(
      { target: "chat/completions", model, plan: { rates: { tokensPerMinute: { limit: 20_000, burst: 20_000 } } } },
      async ({ call, upstream }) => {
        upstream.reply(greedy(100, realTokens));
        const responses = await Promise.all(Array.from({ length: 10 }, () => call("chat/completions", prompt)));
        await Promise.all(responses.map((response) => response.text()));
        expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      },
    ),
  );
});

describe("a beta that opens a longer context", () => {
  const betas = "claude-code-20250219, context-1m-2025-08-07,context-management-2025-06-27";

  it(
    "does not reach the upstream of a model whose context is shorter, and the others do",
    withBounded({ target: "messages", model: { contextLength: 200_000 } }, async ({ call, upstream }) => {
      await (await call("messages", { max_tokens: 5 }, { "anthropic-beta": betas })).text();
      expect(upstream.lastRequest.headers["anthropic-beta"]).toBe("claude-code-20250219,context-management-2025-06-27");
      await (await call("messages", { max_tokens: 5 }, { "anthropic-beta": "Context-1M-2025-08-07" })).text();
      expect(upstream.lastRequest.headers).not.toHaveProperty("anthropic-beta");
      await (
        await call("messages", { max_tokens: 5 }, { "anthropic-beta": "context-500k-2026-01-01,context-1.5m" })
      ).text();
      expect(upstream.lastRequest.headers).not.toHaveProperty("anthropic-beta");
    }),
  );

  it(
    "reaches that of a model whose context is as long",
    withBounded({ target: "messages", model: { contextLength: 1_000_000 } }, async ({ call, upstream }) => {
      await (await call("messages", { max_tokens: 5 }, { "anthropic-beta": betas })).text();
      expect(upstream.lastRequest.headers["anthropic-beta"]).toBe(betas);
    }),
  );
});
