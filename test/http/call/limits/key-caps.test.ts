import { afterAll, describe, expect, it } from "vitest";
import { chatAnswer, createGate, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { errorOf, monday, withLimited } from "../../../support/call/limits/start-limited.js";

afterAll(expectNoSockets);

/** One credit a call: 10 tokens at 1 micro-credit, and 99,999 at 10. */
const oneCredit = wholeAnswer(
  chatAnswer({ usage: { prompt_tokens: 10, completion_tokens: 99_999, total_tokens: 100_009 } }),
);
const day = 86_400_000;

describe("a cap of a key", () => {
  it(
    "denies that key alone, until its day has ended",
    withLimited({ limited: { "sk-a": { credits: { day: 2 } } } }, async ({ call, clock, upstream, events }) => {
      upstream.reply(oneCredit);
      await call({}, "sk-a");
      await call({}, "sk-a");
      const denied = await call({}, "sk-a");
      expect(denied.status).toBe(429);
      expect(await errorOf(denied)).toEqual({
        code: "key_limit_exceeded",
        type: "insufficient_quota",
        param: null,
        message:
          "This API key's daily usage quota is exhausted: 2 of 2 credits used. It will reset at 2026-01-06T00:00:00Z (in 12h 0m).",
      });
      expect(denied.headers.get("x-should-retry")).toBe("false");
      expect(denied.headers.get("retry-after")).toBe(String(12 * 3600));
      expect(denied.headers.get("x-ratelimit-reset")).toBe(String((monday + day / 2) / 1000));
      expect(events.at(-1)).toMatchObject({ status: 429, errorCode: "key_limit_exceeded", chargedMicro: 0 });
      expect((await call()).status).toBe(200);
      expect((await call({ model: "acme/free" }, "sk-a")).status).toBe(200);
      clock.set(monday + day / 2);
      expect((await call({}, "sk-a")).status).toBe(200);
    }),
  );

  it(
    "begins its days at the account's anchor",
    withLimited(
      { limited: { "sk-a": { credits: { day: 1 }, anchor: monday - 10 * day - 3_600_000 } } },
      async ({ call, clock, upstream }) => {
        upstream.reply(oneCredit);
        await call({}, "sk-a");
        expect((await call({}, "sk-a")).headers.get("retry-after")).toBe(String(23 * 3600));
        clock.advance(day - 3_600_000);
        expect((await call({}, "sk-a")).status).toBe(200);
      },
    ),
  );

  it(
    "of its total ends never, and a rotated key goes on with what was used",
    withLimited(
      {
        limited: {
          "sk-old": { id: "key_1", credits: { total: 2 } },
          "sk-new": { id: "key_2", lineage: "key_1", credits: { total: 2 } },
          "sk-other": { id: "key_3", credits: { total: 2 } },
        },
      },
      async ({ call, clock, upstream }) => {
        upstream.reply(oneCredit);
        await call({}, "sk-old");
        await call({}, "sk-new");
        clock.advance(400 * day);
        for (const key of ["sk-old", "sk-new"]) {
          const denied = await call({}, key);
          expect([denied.status, denied.headers.get("retry-after")]).toEqual([429, null]);
          expect(denied.headers.get("x-should-retry")).toBe("false");
          expect((await errorOf(denied)).message).toMatch(/^This API key's total usage quota is exhausted: 2 of 2/);
        }
        expect((await call({}, "sk-other")).status).toBe(200);
      },
    ),
  );

  it(
    "whose rest is held asks for a short wait",
    withLimited({ limited: { "sk-a": { credits: { month: 0.005 } } } }, async ({ call, upstream }) => {
      const gate = createGate();
      upstream.reply(wholeAnswer(undefined, { gate }));
      const open = call({ max_tokens: 1000 }, "sk-a");
      await upstream.nextRequest();
      const denied = await call({}, "sk-a");
      expect(denied.headers.get("x-should-retry")).toBeNull();
      expect(denied.headers.get("retry-after")).toBe("5");
      expect(await errorOf(denied)).toMatchObject({
        code: "key_limit_exceeded",
        type: "requests",
        message: expect.stringMatching(/monthly limit is held by requests/),
      });
      gate.open();
      await open;
      expect((await call({}, "sk-a")).status).toBe(200);
    }),
  );

  it(
    "is in the key's usage, and in no other key's",
    withLimited(
      { limited: { "sk-a": { credits: { day: 2, total: 0 } }, "sk-b": { credits: { day: 2, week: null } } } },
      async ({ call, usage, upstream }) => {
        upstream.reply(oneCredit);
        await call({}, "sk-b");
        const resets = (monday + day / 2) / 1000;
        expect((await usage("sk-b"))["key"]).toEqual({
          limits: { day: { limit: 2, used: 1, held: 0, remaining: 1, resets_at: resets } },
        });
        expect((await usage("sk-a"))["key"]).toEqual({
          limits: {
            day: { limit: 2, used: 0, held: 0, remaining: 2, resets_at: resets },
            total: { limit: 0, used: 0, held: 0, remaining: 0, resets_at: null },
          },
        });
        expect(await usage()).not.toHaveProperty("key");
        expect((await call({}, "sk-a")).status).toBe(429);
      },
    ),
  );
});
