import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import type { UpstreamProvider } from "../../../../src/providers/upstream-provider.js";
import {
  chatChunks,
  createGate,
  errorBody,
  eventStream,
  type FakeUpstream,
  honestChat,
  ManualClock,
  startFakeUpstream,
  wholeAnswer,
} from "../../../../src/testing.js";
import {
  chatRequest,
  freeModel,
  getRequest,
  largeModel,
  readEvents,
  smallModel,
  startTestGateway,
  type TestGateway,
} from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const test = await startTestGateway(options);
  closers.push(() => test.close());
  return test;
}

async function startUpstream(): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream();
  closers.push(() => upstream.close());
  return upstream;
}

const listed = async (test: TestGateway, path = "/v1/models"): Promise<string[]> => {
  const { data } = (await (await test.gateway.handler(getRequest(path))).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
};
const call = (test: TestGateway, body: Record<string, unknown> = {}) => test.gateway.handler(chatRequest(body));
const renamed = (id: string): Model => ({ ...smallModel, id });
const healthOf = (test: TestGateway, id = "acme/small") => test.gateway.health().models[id];

describe("a new catalog", () => {
  it("has its models in the given order, in both shapes of the list, and 404 for those removed", async () => {
    const test = await start();
    const inProcess = test.gateway.as({ account: "acct_pro", plan: "pro", anchor: null });
    test.gateway.update({ models: [renamed("acme/z"), freeModel, renamed("acme/a")] });
    expect(await listed(test)).toEqual(["acme/z", "acme/free", "acme/a"]);
    const request = getRequest("/v1/models");
    const anthropic = new Request(request, { headers: { "x-api-key": "sk-pro", "anthropic-version": "2023-06-01" } });
    const { data } = (await (await test.gateway.handler(anthropic)).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(["acme/z", "acme/free", "acme/a"]);
    expect(Object.keys(test.gateway.health().models)).toEqual(["acme/z", "acme/free", "acme/a"]);
    const gone = await call(test);
    expect([gone.status, ((await gone.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      "model_not_found",
    ]);
    const found = await inProcess.fetch(`${inProcess.baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/a", messages: [{ role: "user", content: "Hi." }] }),
    });
    expect(found.status).toBe(200);
  });

  it("opens new models to keys and plans that were looked up before, by their patterns", async () => {
    const test = await start();
    await listed(test);
    test.gateway.update({ models: [smallModel, largeModel, renamed("acme/new"), renamed("other/new")] });
    expect(await listed(test)).toEqual(["acme/small", "acme/large", "acme/new"]);
    expect((await call(test, { model: "acme/new" })).status).toBe(200);
    expect((await call(test, { model: "other/new" })).status).toBe(403);
    const narrow = await test.gateway.handler(chatRequest({ model: "acme/new" }, "sk-narrow"));
    expect(narrow.status).toBe(403);
  });

  it("warns of plans that name what has vanished", async () => {
    const test = await start();
    expect(test.warnings).toEqual([]);
    test.gateway.update({ models: [largeModel] });
    expect(test.warnings).toMatchObject([{ code: "unmatched_plan_pattern" }]);
    expect(test.warnings[0]?.message).toContain('"basic" names the model "acme/small"');
  });

  it("keeps what is not given: providers with new models, models with new providers", async () => {
    const test = await start();
    const other = await startUpstream();
    test.gateway.update({ providers: { fake: openAICompatible({ baseURL: other.url }) } });
    expect((await call(test)).status).toBe(200);
    test.gateway.update({ models: [smallModel] });
    expect((await call(test)).status).toBe(200);
    expect([test.upstream.requests.length, other.requests.length]).toEqual([0, 2]);
    test.gateway.update({});
    expect(await listed(test)).toEqual(["acme/small"]);
  });

  it("is the last one of several", async () => {
    const test = await start();
    for (const id of ["acme/1", "acme/2", "acme/3"]) test.gateway.update({ models: [renamed(id)] });
    expect(await listed(test)).toEqual(["acme/3"]);
  });

  it("charges a call by the price of its admission, and the next one by the new price", async () => {
    const test = await start();
    const gate = createGate();
    test.upstream.replyOnce(wholeAnswer(JSON.stringify(answer), { gate }));
    const first = call(test);
    await test.upstream.nextRequest();
    test.gateway.update({ models: [{ ...smallModel, price: { input: 1000, output: 10_000 } }] });
    const ended = test.nextEvent();
    gate.open();
    await (await first).text();
    expect((await ended).chargedMicro).toBe(9 + 3 * 10);
    const next = test.nextEvent();
    test.upstream.replyOnce(wholeAnswer(JSON.stringify(answer)));
    await (await call(test)).text();
    expect((await next).chargedMicro).toBe(1000 * (9 + 3 * 10));
  });
});

const answer = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-small",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
};

describe("a change that is not valid", () => {
  const cases: [what: string, change: unknown, message: RegExp][] = [
    ["an unknown option", { model: [] }, /gateway\.update: the options are not valid[\s\S]*model/],
    ["no object", null, /gateway\.update: the options are not valid/],
    ["a model twice", { models: [smallModel, smallModel] }, /The model "acme\/small" appears twice/],
    ["a provider that is missing", { providers: {} }, /names the provider "fake", which is not in `providers`/],
    ["a provider without call", { providers: { fake: {} } }, /must be a provider/],
    [
      "a price that is too fine",
      { models: [{ ...smallModel, price: { input: 1e-13, output: 1 } }] },
      /gateway\.update: the price of the model "acme\/small" is not valid/,
    ],
    [
      "an invalid model after valid ones",
      { models: [renamed("acme/new"), { ...smallModel, upstream: [] }] },
      /must name at least one target/,
    ],
  ];
  it.each(cases)("leaves everything as it was: %s", async (_, change, message) => {
    const test = await start();
    const before = test.gateway.health();
    const update = () => test.gateway.update(change as never);
    expect(update).toThrow(TypeError);
    expect(update).toThrow(message);
    expect(await listed(test)).toEqual(["acme/small", "acme/large", "acme/free", "acme/embed"]);
    expect(test.gateway.health()).toEqual(before);
    expect((await call(test)).status).toBe(200);
    expect(test.warnings).toEqual([]);
  });

  it("has the words of the construction", async () => {
    const wrong = { models: [{ ...smallModel, price: 3, upstrem: 1 }] } as never;
    const test = await start();
    const messageOf = (run: () => unknown): string => {
      try {
        run();
      } catch (error) {
        return (error as Error).message.replace(/^[\w.]+: /, "");
      }
      return "";
    };
    const ofUpdate = messageOf(() => test.gateway.update(wrong));
    const failed = await startTestGateway(wrong).then(
      () => new Error("made"),
      (error: Error) => error,
    );
    expect(ofUpdate).toContain("upstrem");
    expect(ofUpdate).toBe(failed.message.replace(/^[\w.]+: /, ""));
  });

  it("is any change while the plan store lists a plan that is not valid", async () => {
    const plans = [{ id: "pro", models: ["*"] }];
    const test = await start({ plans: { find: (id) => plans.find((plan) => plan.id === id), list: () => plans } });
    const before = await listed(test);
    plans.push({ id: "broken" } as never);
    const update = () => test.gateway.update({ models: [renamed("acme/new")] });
    expect(update).toThrow(
      expect.objectContaining({
        ...{ status: 503, statusCode: 503 },
        message: expect.stringMatching(
          /^gateway\.update: the plan store returned a record that is not valid: .*models/,
        ),
      }),
    );
    expect(await listed(test)).toEqual(before);
  });

  it("is any change while the plan store cannot list, whose words are the cause alone", async () => {
    let fault: Error | undefined;
    const list = () => {
      if (fault !== undefined) throw fault;
      return [];
    };
    const test = await start({ plans: { find: () => ({ id: "pro", models: ["*"] }), list } });
    const before = await listed(test);
    fault = new Error("connect to 10.1.2.3 as app");
    const message = "gateway.update: the plan store failed.";
    expect(() => test.gateway.update({ models: [] })).toThrow(
      expect.objectContaining({ status: 503, message, cause: fault }),
    );
    expect(await listed(test)).toEqual(before);
  });

  it("is any change after close()", async () => {
    const test = await start();
    const closed = test.gateway.close();
    expect(() => test.gateway.update({ models: [] })).toThrow("gateway.update: the gateway is closed.");
    await closed;
    expect(() => test.gateway.update({ models: [] })).toThrow(Error);
  });
});

/** A provider of the host's own in front of a fake upstream, and how often it was closed. */
function countedProvider(upstream: FakeUpstream): { provider: UpstreamProvider; closes: () => number } {
  const inner = openAICompatible({ baseURL: upstream.url });
  let closes = 0;
  const close = async () => {
    closes++;
    await inner.close?.();
  };
  return { provider: { call: (each) => inner.call(each), close }, closes: () => closes };
}

describe("a target that stays", () => {
  const breaker = { consecutiveFailures: 1, openMs: 5_000 };
  const breakable = (price: Model["price"] = smallModel.price): Model => ({ ...smallModel, breaker, price });

  it("keeps its breaker and its counts when its price changes", async () => {
    const clock = new ManualClock(1_000_000);
    const test = await start({ models: [breakable()], clock });
    test.upstream.replyOnce(wholeAnswer(errorBody("No."), { status: 500 }));
    expect((await call(test)).status).toBe(502);
    const opened = healthOf(test)?.targets;
    expect(opened).toMatchObject([{ state: "open", failed: 1 }]);
    test.gateway.update({ models: [breakable({ input: 5, output: 5 })] });
    expect(healthOf(test)?.targets).toEqual(opened);
    clock.advance(5_000);
    expect((await call(test)).status).toBe(200);
    expect(healthOf(test)?.targets).toMatchObject([{ state: "closed", answered: 1, failed: 1 }]);
  });

  it("begins anew with another upstream model, another provider, or as another model's", async () => {
    const other = await startUpstream();
    const test = await start({ models: [breakable()] });
    test.upstream.replyOnce(wholeAnswer(errorBody("No."), { status: 500 }));
    await call(test);
    test.gateway.update({ models: [breakable(), { ...breakable(), id: "acme/other" }] });
    expect(healthOf(test, "acme/other")?.targets).toMatchObject([{ state: "closed", failed: 0 }]);
    expect(healthOf(test)?.targets).toMatchObject([{ state: "open", failed: 1 }]);
    const providers = { fake: openAICompatible({ baseURL: other.url, apiKey: "sk-upstream-secret" }) };
    test.gateway.update({ providers });
    expect(healthOf(test)?.targets).toMatchObject([{ state: "closed", failed: 0 }]);
    test.upstream.reply(honestChat());
    expect((await call(test)).status).toBe(200);
    test.gateway.update({ models: [{ ...breakable(), upstream: { provider: "fake", model: "upstream-2" } }] });
    expect(healthOf(test)?.targets).toMatchObject([{ model: "upstream-2", answered: 0 }]);
  });

  it("is known by equal settings under the same name, and by the same object under any name", async () => {
    const test = await start({ models: [breakable()] });
    const same = () => openAICompatible({ baseURL: test.upstream.url, apiKey: "sk-upstream-secret" });
    expect((await call(test)).status).toBe(200);
    // The connection is free again when the answer's end has been read.
    await turn();
    test.gateway.update({ providers: { fake: same() } });
    expect((await call(test)).status).toBe(200);
    expect(healthOf(test)?.targets).toMatchObject([{ answered: 2 }]);
    expect(test.upstream.acceptedSockets).toBe(1);

    const { provider, closes } = countedProvider(test.upstream);
    test.gateway.update({ providers: { fake: provider } });
    expect(healthOf(test)?.targets).toMatchObject([{ answered: 0 }]);
    expect((await call(test)).status).toBe(200);
    const upstream = { provider: "renamed", model: "upstream-small" };
    test.gateway.update({ models: [{ ...breakable(), upstream }], providers: { renamed: provider } });
    expect(healthOf(test)?.targets).toMatchObject([{ provider: "renamed", answered: 1 }]);
    expect(closes()).toBe(0);
    test.gateway.update({ models: [{ ...breakable(), upstream }], providers: { renamed: { ...provider } } });
    expect(healthOf(test)?.targets).toMatchObject([{ answered: 0 }]);
    expect(closes()).toBe(1);
  });

  it("is another one when one setting differs", async () => {
    const test = await start();
    const settings = [
      { apiKey: "sk-other" },
      { headers: { "x-team": "1" } },
      { idleTimeoutMs: 7 },
      { dialect: { capName: "max_tokens" } },
    ];
    for (const each of settings) {
      await (await call(test)).text();
      const made = { baseURL: test.upstream.url, apiKey: "sk-upstream-secret", ...each };
      test.gateway.update({ providers: { fake: openAICompatible(made as never) } });
      expect(healthOf(test)?.targets).toMatchObject([{ answered: 0 }]);
    }
  });

  it("counts calls of both catalogs as concurrent, and serves requests that wait across the change", async () => {
    const limited = (maxConcurrent: number): Model => ({
      ...smallModel,
      queueTimeoutMs: 60_000,
      upstream: { provider: "fake", model: "upstream-small", maxConcurrent },
    });
    const test = await start({ models: [limited(1)] });
    const gate = createGate();
    test.upstream.replyOnce(wholeAnswer(JSON.stringify(answer), { gate }));
    const first = call(test);
    await test.upstream.nextRequest();
    const second = call(test);
    await expect.poll(() => healthOf(test)?.queued).toBe(1);
    test.gateway.update({ models: [limited(1)] });
    const third = call(test);
    await expect.poll(() => healthOf(test)?.queued).toBe(2);
    expect(healthOf(test)?.targets).toMatchObject([{ active: 1 }]);
    test.gateway.update({ models: [limited(2)] });
    expect((await call(test)).status).toBe(200);
    gate.open();
    expect([(await first).status, (await second).status, (await third).status]).toEqual([200, 200, 200]);
    expect(healthOf(test)).toMatchObject({ queued: 0, targets: [{ active: 0, answered: 4 }] });
  });

  it("lets its key rest on", async () => {
    const upstream = await startUpstream();
    const keyed = () => openAICompatible({ baseURL: upstream.url, apiKey: ["sk-1", "sk-2"] });
    const test = await start({ providers: { fake: keyed() } });
    upstream.replyOnce(wholeAnswer(errorBody("No."), { status: 429, headers: { "retry-after": "600" } }));
    expect((await call(test)).status).toBe(200);
    test.gateway.update({ models: [{ ...smallModel, price: { input: 2, output: 2 } }], providers: { fake: keyed() } });
    for (let time = 0; time < 3; time++) expect((await call(test)).status).toBe(200);
    const keys = upstream.requests.map(({ headers }) => headers.authorization);
    expect(keys.slice(1)).toEqual(Array(4).fill("Bearer sk-2"));
  });
});

describe("a provider that is removed", () => {
  it("is closed when its last stream has ended normally, and not before", async () => {
    const old = await startUpstream();
    const { provider, closes } = countedProvider(old);
    const test = await start({ models: [smallModel], providers: { fake: provider } });
    const gate = createGate();
    old.replyOnce(eventStream(chatChunks("Hello world"), { gate }));
    const response = await Promise.all([call(test, { stream: true }), old.nextRequest().then(() => gate.step(2))]);
    test.gateway.update({ providers: { fake: openAICompatible({ baseURL: test.upstream.url }) } });
    expect((await call(test)).status).toBe(200);
    expect([closes(), old.requests.length, test.upstream.requests.length]).toEqual([0, 1, 1]);
    const ended = test.nextEvent();
    gate.open();
    const events = await readEvents(response[0]);
    expect(events.at(-1)).toBe("[DONE]");
    expect(await ended).toMatchObject({ endReason: "completed", attempts: [{ outcome: "completed" }] });
    await expect.poll(() => closes()).toBe(1);
    await old.idle();
  });

  it("stays open when it comes back before its last call has ended", async () => {
    const { provider, closes } = countedProvider(await startUpstream());
    const other = openAICompatible({ baseURL: "http://127.0.0.1:1/v1" });
    const gate = createGate();
    const old = await startUpstream();
    const counted = countedProvider(old);
    const test = await start({ models: [smallModel], providers: { fake: counted.provider } });
    old.replyOnce(wholeAnswer(JSON.stringify(answer), { gate }));
    const first = call(test);
    await old.nextRequest();
    test.gateway.update({ providers: { fake: other } });
    test.gateway.update({ providers: { fake: counted.provider, more: provider } });
    gate.open();
    expect((await first).status).toBe(200);
    expect([counted.closes(), closes()]).toEqual([0, 0]);
    await test.gateway.close();
    expect([counted.closes(), closes()]).toEqual([1, 1]);
  });

  it("is closed at once where no call uses it, and where closing fails nothing else does", async () => {
    const test = await start();
    const failing: UpstreamProvider = {
      call: () => Promise.reject(new Error("not called")),
      close: () => Promise.reject(new Error("no")),
    };
    const throwing: UpstreamProvider = {
      ...failing,
      close: () => {
        throw new Error("no");
      },
    };
    const { provider, closes } = countedProvider(test.upstream);
    test.gateway.update({ providers: { fake: provider, failing, throwing } });
    test.gateway.update({ providers: { fake: openAICompatible({ baseURL: test.upstream.url }) } });
    expect(closes()).toBe(1);
    expect((await call(test)).status).toBe(200);
  });

  it("is closed once, also where the gateway closes while a call of it is not admitted yet", async () => {
    const { provider, closes } = countedProvider(await startUpstream());
    const asked = createGate();
    const answered = createGate();
    const onRequest = async () => {
      asked.open();
      await answered.pass();
      return undefined;
    };
    const test = await start({ models: [smallModel], providers: { fake: provider }, onRequest });
    const waiting = call(test);
    await asked.pass();
    test.gateway.update({ providers: { fake: openAICompatible({ baseURL: test.upstream.url }) } });
    expect(closes()).toBe(0);
    await test.gateway.close();
    expect(closes()).toBe(1);
    answered.open();
    expect((await waiting).status).toBe(503);
    expect(closes()).toBe(1);
  });

  it("ends the test call of its breaker, which is half open, as if nothing had happened", async () => {
    const clock = new ManualClock(1_000_000);
    const old = await startUpstream();
    const { provider, closes } = countedProvider(old);
    const breaker = { consecutiveFailures: 1, openMs: 5_000 };
    const upstream = [
      { provider: "old", model: "m" },
      { provider: "fake", model: "m" },
    ];
    const fake = openAICompatible({ baseURL: (await startUpstream()).url });
    const test = await start({
      models: [{ ...smallModel, breaker, upstream }],
      providers: { old: provider, fake },
      clock,
    });
    old.replyOnce(wholeAnswer(errorBody("No."), { status: 500 }));
    expect((await call(test)).status).toBe(200);
    await old.nextRequest();
    clock.advance(5_000);
    const gate = createGate();
    old.replyOnce(wholeAnswer(JSON.stringify(answer), { gate }));
    const probe = call(test);
    await old.nextRequest();
    expect(healthOf(test)?.targets).toMatchObject([{ provider: "old", state: "half_open", active: 1 }, {}]);
    test.gateway.update({
      models: [{ ...smallModel, breaker, upstream: { provider: "fake", model: "m" } }],
      providers: { fake },
    });
    expect(healthOf(test)?.targets).toMatchObject([{ provider: "fake", state: "closed", answered: 1 }]);
    expect((await call(test)).status).toBe(200);
    expect(closes()).toBe(0);
    gate.open();
    expect((await probe).status).toBe(200);
    await expect.poll(() => closes()).toBe(1);
    test.gateway.update({ models: [{ ...smallModel, breaker, upstream }], providers: { old: provider, fake } });
    expect(healthOf(test)?.targets).toMatchObject([
      { provider: "old", state: "closed", answered: 0, failed: 0, active: 0 },
      { provider: "fake", answered: 2 },
    ]);
  });
});
