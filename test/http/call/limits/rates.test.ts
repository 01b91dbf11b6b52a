import { afterAll, describe, expect, it } from "vitest";
import type { Rates } from "../../../../src/prices/rates.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { chatAnswer, chatChunks, createGate, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { errorOf, monday, rateHeaders, withLimited } from "../../../support/call/limits/start-limited.js";

afterAll(expectNoSockets);

const statuses = (responses: readonly Response[]) => responses.map(({ status }) => status);
const countOf = (responses: readonly Response[], status: number) =>
  responses.filter((response) => response.status === status).length;
const answerOf = (prompt: number, completion: number, cached = 0) =>
  wholeAnswer(
    chatAnswer({
      usage: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        prompt_tokens_details: { cached_tokens: cached },
      },
    }),
  );

describe("requests a minute", () => {
  it(
    "admit exactly the limit of 1,000 calls at once, and then one each time one has come back",
    withLimited({ rates: { requestsPerMinute: 100 } }, async ({ call, clock, upstream, events }) => {
      upstream.reply(wholeAnswer());
      const responses = await Promise.all(Array.from({ length: 1000 }, () => call()));
      expect([countOf(responses, 200), countOf(responses, 429)]).toEqual([100, 900]);
      expect(upstream.requests).toHaveLength(100);
      expect(events.filter(({ errorCode }) => errorCode === "rate_limit_exceeded")).toHaveLength(900);
      clock.advance(599);
      expect((await call()).status).toBe(429);
      clock.advance(1);
      expect(statuses([await call(), await call()])).toEqual([200, 429]);
    }),
  );

  it(
    "deny with the exact wait, and with whose limit it is",
    withLimited({ rates: { requestsPerMinute: { limit: 60, burst: 2 } } }, async ({ call, clock, upstream }) => {
      upstream.reply(wholeAnswer());
      await call();
      expect(rateHeaders(await call(), "requests")).toEqual(["2", "0", "2s"]);
      clock.advance(250);
      const denied = await call();
      expect(denied.status).toBe(429);
      expect(await errorOf(denied)).toEqual({
        code: "rate_limit_exceeded",
        type: "requests",
        param: null,
        message:
          "The rate limit of your plan is reached: 60 requests a minute with a burst of 2, 2 used. Try again in 750ms.",
      });
      const { headers } = denied;
      expect([headers.get("retry-after"), headers.get("retry-after-ms")]).toEqual(["1", "750"]);
      expect(headers.get("x-should-retry")).toBeNull();
      expect(rateHeaders(denied, "requests")).toEqual(["2", "0", "1.75s"]);
      expect(rateHeaders(denied, "tokens")).toEqual([null, null, null]);
    }),
  );

  it.each([
    ["below the limit", { limit: 600, burst: 100 }, ["100", "99", "100ms"]],
    ["above the limit", { limit: 60, burst: 600 }, ["600", "599", "1s"]],
    ["by default", { limit: 60 }, ["60", "59", "1s"]],
  ])("show what a full bucket holds as the limit, as much as is left when it is full: a burst %s", (_, rate, shown) =>
    withLimited(
      { rates: { requestsPerMinute: rate, tokensPerMinute: { limit: 6_000, burst: 1_000 } } },
      async ({ call, upstream }) => {
        upstream.reply(wholeAnswer());
        const whole = await call();
        expect(rateHeaders(whole, "requests")).toEqual(shown);
        expect(rateHeaders(whole, "tokens")).toEqual(["1000", "988", "120ms"]);
        upstream.reply(eventStream(chatChunks("Hello")));
        const stream = await call({ stream: true });
        expect(rateHeaders(stream, "requests")[0]).toBe(shown[0]);
        await stream.text();
        upstream.reply(wholeAnswer({ error: { message: "It broke." } }, { status: 500 }));
        const failed = await call();
        expect([failed.status, rateHeaders(failed, "requests")[0]]).toEqual([502, shown[0]]);
      },
    )(),
  );

  it(
    "of 0 admit nothing, and say that retries are of no use",
    withLimited({ rates: { requestsPerMinute: 0 } }, async ({ call, upstream }) => {
      const denied = await call();
      expect([denied.status, denied.headers.get("x-should-retry")]).toEqual([429, "false"]);
      expect([denied.headers.get("retry-after"), denied.headers.get("retry-after-ms")]).toEqual([null, null]);
      expect((await errorOf(denied)).message).toContain("is 0 requests a minute: none is allowed");
      expect(upstream.requests).toHaveLength(0);
    }),
  );

  it(
    "count what failed at the upstream, but not what never reached it",
    withLimited({ rates: { requestsPerMinute: 2 } }, async ({ call, upstream }) => {
      upstream.reply(wholeAnswer({ error: { message: "It broke." } }, { status: 500 }));
      const failed = await call();
      expect([failed.status, ...rateHeaders(failed, "requests")]).toEqual([502, "2", "1", "30s"]);
      await upstream.close();
      const unreached = await call();
      expect([unreached.status, ...rateHeaders(unreached, "requests")]).toEqual([502, "2", "1", "30s"]);
      expect(rateHeaders(await call(), "requests")).toEqual(["2", "1", "30s"]);
    }),
  );

  it(
    "bind free models, which hold no credits and enter no charge, also without credits",
    withLimited(
      { rates: { requestsPerMinute: 2 }, credits: { session: 0 } },
      async ({ call, upstream, gateway, events }) => {
        upstream.reply(wholeAnswer());
        const free = { model: "acme/free" };
        expect((await call()).status).toBe(429);
        expect(rateHeaders(await call(free), "requests")).toEqual(["2", "1", "30s"]);
        await call(free);
        expect((await errorOf(await call(free))).code).toBe("rate_limit_exceeded");
        expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 0, 0, 0]);
        for (const event of events) expect(event).not.toHaveProperty("remaining");
        for (const event of events) expect(event).not.toHaveProperty("funding");
        const page = await gateway.accounts.history("acct_pro");
        expect(page.entries.filter(({ kind }) => kind === "charge")).toEqual([]);
      },
    ),
  );
});

describe("tokens a minute", () => {
  it(
    "admit the first call whatever it may need, and give back what it did not",
    withLimited({ rates: { tokensPerMinute: 100 } }, async ({ call, upstream }) => {
      const gate = createGate();
      upstream.reply(wholeAnswer(undefined, { gate }));
      const first = call({ max_tokens: 1000 });
      await upstream.nextRequest();
      const held = await call();
      expect(await errorOf(held)).toMatchObject({
        type: "tokens",
        message: expect.stringContaining("held by requests"),
      });
      // The bucket is far below zero, but what is held comes back soon.
      expect(held.headers.get("retry-after-ms")).toBe("5000");
      gate.open();
      // 9 of the prompt and 3 of the answer.
      expect(rateHeaders(await first, "tokens")).toEqual(["100", "88", "7.2s"]);
    }),
  );

  it(
    "overshoot by less than one request, however many come at once",
    withLimited({ rates: { tokensPerMinute: 1000 } }, async ({ call, clock, upstream }) => {
      upstream.reply(answerOf(10, 90));
      const responses = await Promise.all(Array.from({ length: 200 }, () => call({ max_tokens: 90 })));
      const admitted = countOf(responses, 200);
      expect(admitted).toBeGreaterThan(5);
      expect(admitted * 100).toBeLessThan(1100);
      let total = admitted;
      for (;;) {
        const more = await call({ max_tokens: 90 });
        if (more.status === 429) break;
        total++;
      }
      expect(total).toBe(10);
      clock.advance(1);
      expect((await call({ max_tokens: 90 })).status).toBe(200);
    }),
  );

  it.each([
    ["total", false, 930],
    ["total", true, 910],
    ["input", false, 980],
    ["input", true, 960],
    ["output", false, 950],
  ] as const)("count %s, cached: %s", (count, cached, left) =>
    withLimited({ rates: { tokensPerMinute: { limit: 1000, count, cached } } }, async ({ call, upstream }) => {
      upstream.reply(answerOf(40, 50, 20));
      const response = await call({ max_tokens: 50 });
      expect(rateHeaders(response, "tokens")[1]).toBe(String(left));
    })(),
  );

  it(
    "take the answers of `n` choices before the call",
    withLimited({ rates: { tokensPerMinute: { limit: 10_000, count: "output" } } }, async ({ call, upstream }) => {
      upstream.reply(eventStream(chatChunks("Hello")));
      const response = await call({ max_tokens: 100, n: 3, stream: true });
      expect(rateHeaders(response, "tokens")[1]).toBe("9700");
      await response.text();
    }),
  );

  it(
    "come back from a call that failed",
    withLimited({ rates: { tokensPerMinute: 500 } }, async ({ call, upstream }) => {
      upstream.reply(wholeAnswer({ error: { message: "It broke." } }, { status: 500 }));
      expect(rateHeaders(await call(), "tokens")).toEqual(["500", "500", "0s"]);
    }),
  );
});

describe("concurrent calls", () => {
  const twoAtOnce = { rates: { concurrent: 2 } };

  it(
    "are counted until their streams end, and denied beyond",
    withLimited(twoAtOnce, async ({ call, upstream, events }) => {
      const gates = [createGate(), createGate()];
      for (const gate of gates) {
        gate.step(2);
        upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
      }
      const streams = await Promise.all([call({ stream: true }), call({ stream: true })]);
      const denied = await call();
      expect(denied.headers.get("retry-after-ms")).toBe("1000");
      expect(await errorOf(denied)).toMatchObject({
        code: "rate_limit_exceeded",
        type: "requests",
        message: "The rate limit of your plan is reached: 2 requests at once, 2 in progress. Try again in 1s.",
      });
      for (const gate of gates) gate.open();
      await Promise.all(streams.map((stream) => stream.text()));
      await expect.poll(() => events).toHaveLength(3);
      upstream.reply(wholeAnswer());
      expect(statuses(await Promise.all([call(), call(), call()])).sort()).toEqual([200, 200, 429]);
    }),
  );

  it(
    "end when a client leaves, and when the upstream breaks off",
    withLimited({ rates: { concurrent: 1 } }, async ({ call, upstream, events }) => {
      const gate = createGate();
      upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
      gate.step(2);
      const left = await call({ stream: true });
      expect((await call()).status).toBe(429);
      await left.body?.cancel();
      gate.open();
      await expect.poll(() => events.some(({ endReason }) => endReason === "client_gone")).toBe(true);
      upstream.replyOnce(eventStream(chatChunks("Hello wide world").slice(0, 2), { end: "cut" }));
      expect(await (await call({ stream: true })).text()).toContain('"error"');
      upstream.reply(wholeAnswer());
      expect(statuses([await call(), await call({ model: "acme/free" })])).toEqual([200, 200]);
    }),
  );
});

/** Called through a guard, as one outside of the process is. */
const remoteLedger = () => ({ ...memoryCreditLedger({ clock: new ManualClock(monday) }) });

describe("several limits", () => {
  it(
    "are taken all or none: a key's own leaves the plan's as it was",
    withLimited(
      {
        rates: { requestsPerMinute: 3 },
        limited: { "sk-a": { rates: { requestsPerMinute: 1 } }, "sk-b": { rates: { requestsPerMinute: 5 } } },
      },
      async ({ call, upstream }) => {
        upstream.reply(wholeAnswer());
        expect(rateHeaders(await call({}, "sk-a"), "requests")).toEqual(["1", "0", "1m0s"]);
        for (let denials = 0; denials < 5; denials++) {
          expect((await errorOf(await call({}, "sk-a"))).message).toMatch(/^The rate limit of this API key is reached/);
        }
        expect(rateHeaders(await call({}, "sk-b"), "requests")).toEqual(["3", "1", "40s"]);
        await call({}, "sk-b");
        expect((await errorOf(await call({}, "sk-b"))).message).toMatch(/^The rate limit of your plan is reached/);
        expect((await call({}, "sk-a")).status).toBe(429);
      },
    ),
  );

  it(
    "hold for the models of their patterns",
    withLimited(
      {
        rates: {
          requestsPerMinute: 100,
          models: { "acme/l*": { requestsPerMinute: 1 }, "*e": { tokensPerMinute: 50_000 } },
        },
      },
      async ({ call, upstream }) => {
        upstream.reply(wholeAnswer());
        const large = await call({ model: "acme/large" });
        expect(rateHeaders(large, "requests")).toEqual(["1", "0", "1m0s"]);
        expect(rateHeaders(large, "tokens")[0]).toBe("50000");
        expect((await errorOf(await call({ model: "acme/large" }))).message).toBe(
          'The rate limit of your plan for models "acme/l*" is reached: 1 request a minute, 1 used. Try again in 1m0s.',
        );
        const small = await call();
        expect([...rateHeaders(small, "requests"), ...rateHeaders(small, "tokens")]).toEqual([
          "100",
          "98",
          "1.2s",
          null,
          null,
          null,
        ]);
      },
    ),
  );

  it(
    "speak after the credits",
    withLimited({ rates: { requestsPerMinute: 1 }, credits: { session: 0.00001 } }, async ({ call, upstream }) => {
      upstream.reply(wholeAnswer());
      await call();
      const denied = await call();
      expect((await errorOf(denied)).code).toBe("session_limit_exceeded");
      expect(rateHeaders(denied, "requests")).toEqual(["1", "0", "1m0s"]);
    }),
  );

  it(
    "speak after the credits also where the ledger is not called again",
    withLimited(
      { rates: { requestsPerMinute: 1 }, credits: { session: 0.00001 }, ledger: remoteLedger() },
      async ({ call, upstream }) => {
        upstream.reply(wholeAnswer());
        await call();
        for (let denials = 0; denials < 2; denials++) {
          const denied = await call();
          expect((await errorOf(denied)).code).toBe("session_limit_exceeded");
          expect(rateHeaders(denied, "requests").slice(0, 2)).toEqual(["1", "0"]);
        }
      },
    ),
  );

  it(
    "of a free model's calls show no credits, prepaid ones neither",
    withLimited({ rates: { requestsPerMinute: 1 } }, async ({ gateway, call, upstream }) => {
      await gateway.accounts.topUp("acct_pro", { id: "t", credits: 5 });
      upstream.reply(wholeAnswer());
      for (const status of [200, 429]) {
        const response = await call({ model: "acme/free" });
        expect(response.status).toBe(status);
        expect([...response.headers.keys()].filter((name) => /session|prepaid/.test(name))).toEqual([]);
      }
    }),
  );

  it(
    "of calls in process are those of their own key, whatever it is called",
    withLimited({}, async ({ gateway, upstream }) => {
      upstream.reply(wholeAnswer());
      const statusOf = async (key: string, rates: Rates) => {
        const { baseURL, fetch } = gateway.as({ account: "acct_pro", plan: "pro", anchor: null, key, rates });
        const body = JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }] });
        const headers = { "content-type": "application/json" };
        return (await fetch(`${baseURL}/chat/completions`, { method: "POST", body, headers })).status;
      };
      expect(await statusOf("jobs/acme/small", { requestsPerMinute: 1 })).toBe(200);
      const ofModel = { models: { "acme/small": { requestsPerMinute: 1 } } };
      expect(await statusOf("jobs", ofModel)).toBe(200);
      expect(await statusOf("jobs", ofModel)).toBe(429);
    }),
  );

  it(
    "bind calls in process, by the plan and by rates of their own",
    withLimited({ rates: { requestsPerMinute: 3 } }, async ({ gateway, call, upstream }) => {
      upstream.reply(wholeAnswer());
      const own = gateway.as({ account: "acct_pro", plan: "pro", anchor: null, rates: { requestsPerMinute: 2 } });
      const body = JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }] });
      const fetchOnce = () =>
        own.fetch(`${own.baseURL}/chat/completions`, {
          method: "POST",
          body,
          headers: { "content-type": "application/json" },
        });
      expect(statuses([await fetchOnce(), await fetchOnce(), await fetchOnce()])).toEqual([200, 200, 429]);
      expect(statuses([await call(), await call()])).toEqual([200, 429]);
    }),
  );
});
