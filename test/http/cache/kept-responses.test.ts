import { describe, expect, it } from "vitest";
import { decodeResponse, encodeResponse } from "../../../src/cache/cached-response.js";
import { MemoryResponseCache } from "../../../src/cache/memory-response-cache.js";
import { CopiedBody } from "../../../src/cache/response-cache.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { chatAnswer, chatChunks, eventStream, ManualClock, sampleUsage, wholeAnswer } from "../../../src/testing.js";
import { startCache } from "../../support/cache/start-cache.js";

describe("what is sent again", () => {
  it("says what it costs now, whole and streamed", async () => {
    for (const price of [0, 0.5]) {
      const { post, upstream } = await startCache({ exposeCost: true }, { share: price });
      upstream.reply((request, response) => {
        const answer = request.json.stream
          ? eventStream(chatChunks("Hello", { usage: sampleUsage }))
          : wholeAnswer(chatAnswer());
        return answer(request, response);
      });
      const first = await post();
      const again = await post();
      const { cost } = JSON.parse(first.text).usage;
      expect(cost).toBeGreaterThan(0);
      expect(JSON.parse(again.text).usage).toEqual({
        ...JSON.parse(first.text).usage,
        cost: Number(again.headers.get("x-credits-charged")),
      });
      const stream = { stream: true, stream_options: { include_usage: true } };
      await post(stream);
      const costs = /"cost":([\d.e-]+)/.exec((await post(stream)).text);
      expect(Number(costs?.[1])).toBe(Number(again.headers.get("x-credits-charged")));
    }
  });

  it("has an id of its own whatever the first was like, and the event has the same", async () => {
    for (const id of ["4f1d2c", "gen-1", "x_1", "chatcmpl-1", "a/b"]) {
      const { post, upstream, events } = await startCache();
      upstream.reply(wholeAnswer(chatAnswer({ id })));
      const first = JSON.parse((await post()).text);
      const again = JSON.parse((await post()).text);
      expect(again.id).not.toBe(first.id);
      expect(events.map(({ responseId }) => responseId)).toEqual([first.id, again.id]);
    }
  });

  it("has both dates of a response", async () => {
    const { post, clock, gateway, upstream, keeping } = await startCache();
    const operations = ["responses"] as const;
    await gateway.update({
      providers: { fake: keeping(openAICompatible({ baseURL: upstream.url, apiKey: "sk-up", operations })) },
    });
    const sample = {
      id: "resp_1",
      object: "response",
      created_at: 1_700_000_000,
      completed_at: 1_700_000_001,
      status: "completed",
      model: "upstream-small",
      output: [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content: [] }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    };
    upstream.reply(wholeAnswer(sample));
    const body = JSON.stringify({ model: "acme/small", input: "Hi", store: false });
    await post(body, {}, "responses");
    const again = await post(body, {}, "responses");
    const now = Math.floor(clock.now() / 1000);
    expect([again.cached, JSON.parse(again.text)]).toMatchObject(["hit", { created_at: now, completed_at: now }]);
  });

  it("has nothing of the upstream's headers", async () => {
    const { post, upstream } = await startCache();
    const headers = {
      "set-cookie": "session=secret",
      "x-request-id": "req_up",
      "openai-organization": "org-secret",
      "x-ratelimit-remaining-requests": "7",
      "content-type": "application/json",
    };
    upstream.reply(wholeAnswer(chatAnswer(), { headers }));
    await post();
    const again = await post();
    expect(again.cached).toBe("hit");
    expect(JSON.stringify([...again.headers])).not.toMatch(/secret|req_up|remaining-requests/);
  });
});

describe("nothing is kept", () => {
  it("of a call during which its account was forgotten", async () => {
    const { post, upstream, gateway } = await startCache();
    let wasAsked = false;
    upstream.reply(async (request, response) => {
      if (!wasAsked) await gateway.accounts.forget("acct_basic");
      wasAsked = true;
      await wholeAnswer(chatAnswer())(request, response);
    });
    expect((await post({}, { authorization: "Bearer sk-basic" })).status).toBe(200);
    const { secret } = await gateway.keys.create({ account: "acct_basic", plan: "basic" });
    expect((await post({}, { authorization: `Bearer ${secret}` })).cached).toBe("miss");
    expect((await post({}, { authorization: `Bearer ${secret}` })).cached).toBe("hit");
  });

  it("for longer, where the clock is set back", async () => {
    const { post, clock } = await startCache();
    await post();
    clock.advance(-600_000);
    expect((await post()).cached).toBe("miss");
    clock.advance(299_999);
    expect((await post()).cached).toBe("hit");
    clock.advance(1);
    expect((await post()).cached).toBe("miss");
  });

  it("of a whole stream whose end is a broken event", async () => {
    const { post, upstream } = await startCache();
    upstream.reply(eventStream(chatChunks("Hello").slice(0, 2), { end: "reset" }));
    await post({ stream: true }).catch(() => {});
    await post({ stream: true }).catch(() => {});
    expect(upstream.requests).toHaveLength(2);
  });

  it("of more streams at once than there is room for", async () => {
    const room = { left: 10 };
    const copied = (...texts: string[]) => {
      const body = async function* () {
        for (const text of texts) yield Buffer.from(text);
      };
      return new CopiedBody({ status: 200, headers: {}, body: body() }, { most: 8, room });
    };
    const [one, two] = [copied("123456", "!"), copied("abcdef", "!")];
    await one.next();
    await two.next();
    for (const each of [one, two]) for await (const _ of each);
    expect([one, two].map(({ copy }) => copy?.toString())).toEqual(["123456!", undefined]);
    // Some readers stop at the last event, before the end of the body: the call knows whether that is all.
    const [left, long] = [copied("abcdef", "!"), copied("12345678", "9")];
    await left.next();
    await left.return();
    for await (const _ of long);
    expect([left, long].map(({ copy }) => copy?.toString())).toEqual(["abcdef", undefined]);
    // All of the room is there again.
    expect(room.left).toBe(10);
  });
});

describe("the bytes of a kept response", () => {
  const answer = {
    body: Buffer.from('{"id":,"a":1}'),
    places: Uint32Array.from([24]),
    contentType: "application/json",
    idPrefix: "chatcmpl-",
    keptAt: 1_700_000_000_000,
  };

  it("are read as they were written, in memory of their own", () => {
    const bytes = encodeResponse(answer);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
    expect(decodeResponse(bytes)).toEqual(answer);
    expect(decodeResponse(Uint8Array.from(bytes))).toEqual(answer);
  });

  it("are none where something of them is lost or another", () => {
    const bytes = encodeResponse(answer);
    for (let length = 0; length < bytes.length - answer.body.length; length++) {
      expect(decodeResponse(bytes.subarray(0, length))).toBeUndefined();
    }
    for (const text of ["", "{}", "null", "an answer of something else, which is long enough"]) {
      expect(decodeResponse(Buffer.from(text))).toBeUndefined();
    }
    for (const changed of [
      { idPrefix: 1 },
      { keptAt: 0.5 },
      { keptAt: "now" },
      { contentType: 1 },
      { places: Uint32Array.from([9999]) },
      { places: Uint32Array.from([3]) },
      { places: Uint32Array.from([24, 8]) },
    ]) {
      expect(decodeResponse(encodeResponse({ ...answer, ...(changed as object) }))).toBeUndefined();
    }
  });

  it("of one account leave those of others alone, and go when their time is over", () => {
    const clock = new ManualClock(0);
    const cache = new MemoryResponseCache(40_000, clock);
    const value = (bytes: number) => new Uint8Array(bytes);
    cache.put("a", "old", value(1), 100);
    cache.put("a", "key", value(2), 1000);
    cache.put("b", "key", value(3), 1000);
    expect([cache.get("a", "key")?.length, cache.get("b", "key")?.length]).toEqual([2, 3]);
    clock.advance(100);
    cache.put("b", "new", value(1), 1000);
    expect(cache.get("a", "old")).toBeUndefined();
    for (let n = 0; n < 20; n++) cache.put("a", `n${n}`, value(1000), 1000);
    expect(cache.get("b", "key")?.length).toBe(3);
    expect(cache.get("a", "key")).toBeUndefined();
    cache.put("a", "huge", value(9_000), 1000);
    expect(cache.get("a", "huge")).toBeUndefined();
    cache.forget("a");
    for (let n = 0; n < 20; n++) expect(cache.get("a", `n${n}`)).toBeUndefined();
    expect(cache.get("b", "key")?.length).toBe(3);
  });
});
