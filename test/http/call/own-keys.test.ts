import { describe, expect, it, onTestFinished } from "vitest";
import { cached } from "../../../src/cache/cached.js";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { openAI } from "../../../src/providers/presets.js";
import type { OwnKeyCall, UpstreamCall } from "../../../src/providers/upstream-provider.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import {
  chatAnswer,
  type FakeAnswer,
  type FakeUpstream,
  honestChat,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

const ownKey = "sk-own-0123456789abcdef";
const operatorKey = "sk-operator-0123456789";
const start = Date.UTC(2026, 2, 11, 9, 30);

// 12 tokens of input at 1 micro-credit, and 5 of output at 10: 62 micro-credits.
const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
const answer: FakeAnswer = wholeAnswer(chatAnswer({ content: "Hello", usage }));

const ownAndHouse: Model = {
  ...smallModel,
  maxAttempts: 2,
  upstream: [
    { provider: "own", model: "upstream-small" },
    { provider: "house", model: "upstream-small" },
  ],
};

type OwnKeys = (call: OwnKeyCall) => unknown;

/** Two providers on servers of their own: `own` knows own keys of accounts, `house` is the operator's. */
async function setUp(find: OwnKeys, options: Partial<GatewayOptions> = {}) {
  const clock = new ManualClock(start);
  const servers = { own: await startFakeUpstream(), house: await startFakeUpstream() };
  for (const server of Object.values(servers)) {
    server.reply(answer);
    onTestFinished(() => server.close());
  }
  const ledger = memoryCreditLedger({ clock });
  const keys = ["alice", "bob", "empty"].map((account) => ({
    key: `sk-${account}`,
    id: account,
    account,
    plan: "pro",
  }));
  const test = await startTestGateway({
    ...{ clock, ledger, models: [ownAndHouse] },
    keys: memoryKeyStore(keys),
    plans: memoryPlanStore({ pro: { models: ["*"], credits: { month: 1 } } }),
    providers: {
      own: openAICompatible({ baseURL: servers.own.url, apiKey: operatorKey, ownKey: find as () => string }),
      house: openAICompatible({ baseURL: servers.house.url, apiKey: "sk-house-0123456789" }),
    },
    ...options,
  });
  onTestFinished(() => test.close());
  const call = (account: string, body: Record<string, unknown> = {}) =>
    test.gateway.handler(chatRequest(body, `sk-${account}`));
  const used = async (account: string) => {
    const { entries = [] } = (await ledger.history?.({ account })) ?? {};
    return entries.reduce((sum, { amountMicro }) => sum + amountMicro, 0);
  };
  return { ...test, clock, servers, ledger, call, used };
}

/** The keys that a server got. */
const keysAt = ({ requests }: FakeUpstream) => requests.map(({ headers }) => headers.authorization);

const codeOf = async (response: Response) => ({
  status: response.status,
  code: ((await response.json()) as { error: { code: string } }).error.code,
});

const ofAlice: OwnKeys = ({ account }) => (account === "alice" ? ownKey : undefined);

describe("an account's own key", () => {
  it("goes to the server, and the call costs nothing; others use the operator's key and pay", async () => {
    const { call, servers, used, events } = await setUp(ofAlice);
    expect((await call("alice")).status).toBe(200);
    expect((await call("bob")).status).toBe(200);
    expect(keysAt(servers.own)).toEqual([`Bearer ${ownKey}`, `Bearer ${operatorKey}`]);
    expect(await used("alice")).toBe(0);
    expect(await used("bob")).toBe(62);
    expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 62]);
  });

  it("is looked up with whose call it is, after the host's hook", async () => {
    const asked: OwnKeyCall[] = [];
    const { call } = await setUp(
      (of) => {
        asked.push(of);
        return undefined;
      },
      { onRequest: () => ({ tags: { team: "red" } }) },
    );
    await call("alice");
    expect(asked).toEqual([
      { account: "alice", keyId: "alice", plan: "pro", tags: { team: "red" }, model: "acme/small" },
    ]);
  });

  it("serves an account that has no credits left", async () => {
    const { call, gateway, used } = await setUp(({ account }) => (account === "empty" ? ownKey : undefined));
    const hold = await gateway.accounts.hold("empty", { id: "all", creditsMicro: 1e6, plan: "pro", anchor: null });
    await hold.settle({ creditsMicro: 1e6 });
    expect((await call("empty")).status).toBe(200);
    const respond = (body: object) =>
      gateway.handler(
        new Request("http://gateway.test/v1/responses", {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer sk-empty" },
          body: JSON.stringify({ model: "acme/small", ...body }),
        }),
      );
    const { id } = (await (await respond({ input: "Hello" })).json()) as { id: string };
    expect((await respond({ input: "Go on.", previous_response_id: id })).status).toBe(200);
    expect(await used("empty")).toBe(1e6);
  });

  it("is the only one for its call: a failure does not send it to the operator's targets", async () => {
    const { call, servers, used } = await setUp(ofAlice);
    servers.own.reply(wholeAnswer({ error: { message: "Overloaded." } }, { status: 500 }));
    expect((await call("alice")).status).toBe(502);
    expect(servers.house.requests).toHaveLength(0);
    expect(await used("alice")).toBe(0);
    expect((await call("bob")).status).toBe(200);
    expect(servers.house.requests).toHaveLength(1);
  });

  it("is sent as often as there are targets for it", async () => {
    const { maxAttempts: _, ...model } = ownAndHouse;
    const { call, servers } = await setUp(ofAlice, { models: [model] });
    servers.own.reply(wholeAnswer({ error: { message: "Overloaded." } }, { status: 500 }));
    expect((await call("alice")).status).toBe(502);
    expect(servers.own.requests).toHaveLength(1);
  });

  it("works for a server that breaks for all others", async () => {
    const { call, servers, gateway } = await setUp(ofAlice);
    servers.own.reply((request, response) => {
      const isOwn = request.headers.authorization === `Bearer ${ownKey}`;
      const refusal = wholeAnswer({ error: { message: "Pay first." } }, { status: 402 });
      return (isOwn ? answer : refusal)(request, response);
    });
    for (let count = 0; count < 20; count++) expect((await call("bob")).status).toBe(200);
    const state = () => gateway.health().models["acme/small"]?.targets[0]?.state;
    expect(state()).toBe("open");
    expect((await call("alice")).status).toBe(200);
    expect(keysAt(servers.own).at(-1)).toBe(`Bearer ${ownKey}`);
    expect(state()).toBe("open");
  });

  it("pays for streams and for clients of other APIs", async () => {
    const { call, gateway, servers, used } = await setUp(() => ownKey);
    servers.own.reply(honestChat());
    expect(await (await call("alice", { stream: true })).text()).toContain("[DONE]");
    const post = (path: string, body: object) =>
      gateway.handler(
        new Request(`http://gateway.test/v1/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer sk-alice" },
          body: JSON.stringify({ model: "acme/small", ...body }),
        }),
      );
    const messages = [{ role: "user", content: "Hello" }];
    expect((await post("responses", { input: "Hello" })).status).toBe(200);
    expect((await post("messages", { messages, max_tokens: 5 })).status).toBe(200);
    expect(new Set(keysAt(servers.own))).toEqual(new Set([`Bearer ${ownKey}`]));
    expect(await used("alice")).toBe(0);
  });

  it("goes out without the operator's credentials", async () => {
    const server = await startFakeUpstream();
    onTestFinished(() => server.close());
    server.reply(answer);
    const headers = {
      ...{ authorization: "Bearer operator-token", cookie: "session=1", "x-api-key": "operator" },
      ...{ "openai-organization": "org_1", "x-region": "eu" },
    };
    const own = openAICompatible({
      baseURL: server.url,
      headers,
      dialect: { keyHeader: "api-key" },
      ownKey: ofAlice as never,
    });
    const { call } = await setUp(() => undefined, { models: [smallModel], providers: { fake: own } });
    await call("alice");
    await call("bob");
    const [alices, bobs] = server.requests.map((request) => request.headers);
    expect(alices).toMatchObject({ "api-key": ownKey, "x-region": "eu" });
    for (const name of ["authorization", "cookie", "x-api-key", "openai-organization"]) {
      expect([name, alices?.[name]]).toEqual([name, undefined]);
      expect(bobs?.[name]).toBeDefined();
    }
  });

  it("is in no id, event or type that its server repeats it in", async () => {
    const { call, servers, events } = await setUp(ofAlice, { models: [ownAndHouse] });
    servers.own.reply((request, response) => {
      response.setHeader("x-request-id", `req-${ownKey}`);
      return answer(request, response);
    });
    expect((await call("alice")).status).toBe(200);
    expect(JSON.stringify(events)).not.toContain(ownKey);
  });

  it("pays for its own kept responses alone", async () => {
    const server = await startFakeUpstream();
    onTestFinished(() => server.close());
    server.reply(answer);
    let key: string | undefined;
    const own = openAICompatible({ baseURL: server.url, apiKey: operatorKey, ownKey: () => key });
    const providers = { fake: cached(own, { mode: "always", share: 1 }) };
    const { call, used } = await setUp(() => undefined, { models: [smallModel], providers });
    await call("alice");
    await call("alice");
    expect(server.requests).toHaveLength(1);
    expect(await used("alice")).toBe(124);
    key = ownKey;
    await call("alice");
    await call("alice");
    expect(server.requests).toHaveLength(2);
    expect(await used("alice")).toBe(124);
  });

  it("replaces the operator's in the header of the server", async () => {
    const server = await startFakeUpstream();
    onTestFinished(() => server.close());
    server.reply(answer);
    const dialect = { keyHeader: "api-key" };
    const own = openAICompatible({ baseURL: server.url, apiKey: operatorKey, dialect, ownKey: () => ownKey });
    const { call } = await setUp(() => ownKey, { models: [smallModel], providers: { fake: own } });
    expect((await call("alice")).status).toBe(200);
    expect(server.requests[0]?.headers).toMatchObject({ "api-key": ownKey });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe("the price of a call with an own key", () => {
  it.each([
    // 62 micro-credits times 0.1, rounded up.
    ["the plan's", { plan: 0.1, target: undefined }, 7],
    ["the target's, in place of the plan's", { plan: 0.1, target: 0.5 }, 31],
    ["the target's, that makes it free", { plan: 0.1, target: 0 }, 0],
  ])("has the factor of %s", async (_name, { plan, target }, micro) => {
    const upstream = { provider: "own", model: "upstream-small", cost: { input: 1, output: 1 } };
    const model: Model = { ...smallModel, upstream: { ...upstream, ownKeyPriceFactor: target } };
    const terms = { models: ["*"], credits: { month: 1 }, priceFactor: 3, ownKeyPriceFactor: plan };
    const { call, used, events } = await setUp(ofAlice, {
      models: [model],
      plans: memoryPlanStore({ pro: terms }),
    });
    expect((await call("alice")).status).toBe(200);
    expect(await used("alice")).toBe(micro);
    expect((await call("bob")).status).toBe(200);
    expect(await used("bob")).toBe(186);
    // The operator pays for the second one only.
    expect(events.map(({ costMicro }) => costMicro)).toEqual([0, 17]);
  });

  it("is held, by the dearest of its targets that take an own key", async () => {
    const held: number[] = [];
    const target = { provider: "own", model: "upstream-small", ownKeyPriceFactor: 0.1 };
    const { call, ledger } = await setUp(() => ownKey, {
      models: [
        {
          ...smallModel,
          upstream: [{ ...target, ownKeyPriceFactor: 0.05 }, target, { provider: "house", model: "a" }],
        },
      ],
    });
    const { reserve } = ledger;
    ledger.reserve = (request) => {
      held.push(request.amountMicro);
      return reserve(request);
    };
    expect((await call("alice", { max_tokens: 1_000 })).status).toBe(200);
    // 1,000 tokens of output at 20 micro-credits, as reasoning costs, and up to 50 of input at 1: a tenth of it.
    expect(held).toHaveLength(1);
    expect(held[0]).toBeGreaterThan(2_000);
    expect(held[0]).toBeLessThan(2_010);
  });

  it("enters nothing in the journal where the target that serves it is free", async () => {
    const target = { provider: "own", model: "upstream-small" };
    const upstream = [
      { ...target, ownKeyPriceFactor: 0 },
      { ...target, model: "dear", ownKeyPriceFactor: 1 },
    ];
    const { call, ledger } = await setUp(() => ownKey, { models: [{ ...smallModel, upstream }] });
    expect((await call("alice")).status).toBe(200);
    expect((await ledger.history?.({ account: "alice" }))?.entries.map(({ kind }) => kind)).not.toContain("charge");
  });

  it("counts in rates, also where it is nothing", async () => {
    const plans = memoryPlanStore({ pro: { models: ["*"], rates: { requestsPerMinute: 2 } } });
    const { call } = await setUp(() => ownKey, { plans });
    const statuses = [await call("alice"), await call("alice"), await call("alice")].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it.each([-0.1, 1_001, 0.1234567, Number.NaN])("has no factor of %s", async (ownKeyPriceFactor) => {
    const problem = /ownKeyPriceFactor: must be a number of at least 0/;
    expect(() => memoryPlanStore({ pro: { models: ["*"], ownKeyPriceFactor } })).toThrow(problem);
    const upstream = { provider: "own", model: "a", ownKeyPriceFactor };
    await expect(setUp(ofAlice, { models: [{ ...smallModel, upstream }] })).rejects.toThrow(problem);
  });
});

describe("a target for own keys alone", () => {
  const alone: OwnKeys = ({ account }) => (account === "alice" ? ownKey : null);

  it("is passed over by others, who do not break it", async () => {
    const { call, servers, used } = await setUp(alone);
    for (let count = 0; count < 20; count++) expect((await call("bob")).status).toBe(200);
    expect(servers.own.requests).toHaveLength(0);
    expect(await used("bob")).toBeGreaterThan(0);
    expect((await call("alice")).status).toBe(200);
    expect(keysAt(servers.own)).toEqual([`Bearer ${ownKey}`]);
    expect(await used("alice")).toBe(0);
  });

  it("asks whoever has none to bring one, where no other target is left", async () => {
    const { call, servers, warnings } = await setUp(alone, {
      models: [{ ...smallModel, upstream: { provider: "own", model: "upstream-small" } }],
    });
    const response = await call("bob");
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await codeOf(response)).toEqual({ status: 400, code: "own_key_required" });
    expect(servers.own.requests).toHaveLength(0);
    expect(warnings).toEqual([]);
  });
});

describe("an own key that its server refuses", () => {
  const refuse = (status: number, headers: Record<string, string> = {}, error: object = {}): FakeAnswer =>
    wholeAnswer({ error: { message: `Incorrect API key provided: ${ownKey}.`, ...error } }, { status, headers });

  it.each([
    [401, {}],
    [402, {}],
    [403, { code: "billing_not_active" }],
    [429, { code: "insufficient_quota" }],
  ])("is its account's error (%i), rests for a while, and breaks nothing", async (status, error) => {
    const { call, servers, clock, gateway, warnings } = await setUp(ofAlice);
    servers.own.reply(refuse(status, {}, error));
    for (let count = 0; count < 20; count++) {
      const response = await call("alice");
      const text = await response.clone().text();
      expect(text).not.toContain(ownKey);
      expect(await codeOf(response)).toEqual({ status: 403, code: "own_key_refused" });
    }
    expect(servers.own.requests).toHaveLength(1);
    clock.advance(10_000);
    await call("alice");
    expect(servers.own.requests).toHaveLength(2);
    expect(gateway.health().models["acme/small"]?.targets[0]?.state).toBe("closed");
    expect(JSON.stringify(warnings)).not.toContain(ownKey);
    servers.own.reply(answer);
    expect((await call("bob")).status).toBe(200);
    expect(keysAt(servers.own).at(-1)).toBe(`Bearer ${operatorKey}`);
  });

  it("sends its call on to another provider that takes an own key, and to no target with the same key", async () => {
    const twice = { provider: "own", model: "upstream-small" };
    const other = await startFakeUpstream();
    onTestFinished(() => other.close());
    other.reply(answer);
    const { call, servers } = await setUp(ofAlice, {
      models: [
        { ...smallModel, maxAttempts: 3, upstream: [twice, { ...twice, model: "b" }, { ...twice, provider: "other" }] },
      ],
      providers: {
        own: openAICompatible({ baseURL: "http://127.0.0.1:1/v1" }),
        other: openAICompatible({ baseURL: other.url, ownKey: () => "sk-other-0123456789" }),
      },
    });
    expect(servers.own.requests).toHaveLength(0);
    // Nobody listens at the first: it is no refusal.
    expect((await call("bob")).status).toBe(200);
    expect(keysAt(other)).toEqual(["Bearer sk-other-0123456789"]);
  });

  it.each([
    [403, { message: "This prompt was flagged.", code: "content_filtered" }],
    [404, { message: "The model does not exist.", code: "model_not_found" }],
  ])("or what may be one (%i), does not rest, and is no warning", async (status, error) => {
    const { call, servers, warnings } = await setUp(ofAlice);
    servers.own.reply(refuse(status, {}, error));
    for (let count = 0; count < 2; count++) {
      expect(await codeOf(await call("alice"))).toEqual({ status: 403, code: "own_key_refused" });
    }
    expect(servers.own.requests).toHaveLength(2);
    expect(warnings).toEqual([]);
  });

  it("rests for one model alone", async () => {
    const small: Model = { ...smallModel, upstream: { provider: "own", model: "upstream-small" } };
    const large: Model = { ...small, id: "acme/large", upstream: { provider: "own", model: "upstream-large" } };
    const { call, servers } = await setUp(ofAlice, { models: [small, large] });
    servers.own.reply(refuse(401));
    expect((await call("alice", { model: "acme/large" })).status).toBe(403);
    servers.own.reply(answer);
    expect((await call("alice", { model: "acme/large" })).status).toBe(403);
    expect((await call("alice")).status).toBe(200);
  });

  it("is not tried again within a call before its server says", async () => {
    const { call, servers } = await setUp(ofAlice, { models: [{ ...ownAndHouse, maxAttempts: 3 }] });
    servers.own.reply(refuse(429, { "retry-after": "30" }));
    expect((await call("alice")).status).toBe(429);
    expect(servers.own.requests).toHaveLength(1);
  });

  it("does not keep its account's next key from being tried", async () => {
    let key = ownKey;
    const { call, servers } = await setUp(() => key);
    servers.own.reply(refuse(401));
    expect((await call("alice")).status).toBe(403);
    servers.own.reply(answer);
    key = "sk-corrected-0123456789";
    expect((await call("alice")).status).toBe(200);
  });

  it("waits for as long as its server says, where it is at its limit", async () => {
    const { call, servers, clock } = await setUp(ofAlice, { models: [{ ...ownAndHouse, maxAttempts: 1 }] });
    servers.own.reply(refuse(429, { "retry-after": "30" }));
    expect(await codeOf(await call("alice"))).toEqual({ status: 429, code: "own_key_limited" });
    clock.advance(10_000);
    const denied = await call("alice");
    expect([denied.status, denied.headers.get("retry-after")]).toEqual([429, "20"]);
    expect(await denied.text()).toContain("Your own key is at its limit with the model's server. Try again in 20s.");
    expect(servers.own.requests).toHaveLength(1);
    expect((await call("bob")).status).toBe(429);
    expect(servers.own.requests).toHaveLength(2);
  });

  it("is in no error of its server's", async () => {
    const { call, servers, warnings } = await setUp(ofAlice);
    servers.own.reply(refuse(400, {}, { param: "messages" }));
    const text = await (await call("alice")).text();
    expect(text).toContain("error");
    expect(text + JSON.stringify(warnings)).not.toContain(ownKey);
  });
});

describe("a function that finds own keys", () => {
  it.each([
    [
      "throws",
      () => {
        throw new Error(`no ${ownKey}`);
      },
    ],
    ["rejects", () => Promise.reject(new Error("down"))],
    ["gives a number", () => 5],
    ["never ends", () => new Promise(() => {})],
  ] as [string, OwnKeys][])("and %s is a 503 and a warning", async (_name, find) => {
    const { call, servers, warnings, used } = await setUp(find, { hookTimeoutMs: 50 });
    const response = await call("alice");
    const text = await response.clone().text();
    expect(text).not.toContain(ownKey);
    expect(await codeOf(response)).toEqual({ status: 503, code: "service_unavailable" });
    expect(warnings.map(({ code }) => code)).toEqual(["own_key_failed"]);
    expect(warnings[0]?.message).toContain('the provider "own" failed');
    expect(servers.own.requests.length + servers.house.requests.length).toBe(0);
    expect(await used("alice")).toBe(0);
  });

  it("may be a method, and its key is in no warning", async () => {
    class Own {
      readonly #keys = new Map([["alice", "tenant-pass-phrase"]]);
      ownKey({ account }: OwnKeyCall): string | undefined {
        return this.#keys.get(account);
      }
      async call({ ownKey: key }: UpstreamCall): Promise<never> {
        throw new Error(`connect failed with ${key}`);
      }
    }
    const { call, warnings } = await setUp(() => undefined, { models: [smallModel], providers: { fake: new Own() } });
    expect((await call("alice")).status).toBe(502);
    expect(warnings.map(({ code }) => code)).toEqual(["upstream_failed"]);
    expect(warnings[0]?.message).not.toContain("tenant-pass-phrase");
    const cachedOwn = cached(new Own(), { mode: "always" });
    const other = await setUp(() => undefined, { models: [smallModel], providers: { fake: cachedOwn } });
    expect((await other.call("alice")).status).toBe(502);
    expect(other.warnings[0]?.message).not.toContain("tenant-pass-phrase");
  });

  it.each(["line\nbreak", "", " ", "sk-ü", "k".repeat(4_097)])(
    "that gives what is no key (%j) refuses it",
    async (key) => {
      const { call, servers, warnings } = await setUp(() => key);
      expect(await codeOf(await call("alice"))).toEqual({ status: 403, code: "own_key_refused" });
      expect(servers.own.requests.length + servers.house.requests.length).toBe(0);
      expect(warnings).toEqual([]);
    },
  );

  it("must be a function", async () => {
    const provider = { ownKey, call: () => Promise.reject(new Error("not called")) } as never;
    await expect(setUp(ofAlice, { models: [smallModel], providers: { fake: provider } })).rejects.toThrow(
      /fake\.ownKey: must be a function/,
    );
    expect(() => openAI({ ownKey: ownKey as never })).toThrow("ownKey: must be a function");
  });
});

describe("the targets that a hook names", () => {
  it("are tried in its order, and no others", async () => {
    const { call, servers } = await setUp(() => undefined, {
      onRequest: ({ account }) => ({
        targets:
          account === "alice"
            ? ["house/upstream-small", "other/model"]
            : ["house/upstream-small", "own/upstream-small"],
      }),
    });
    servers.house.reply(wholeAnswer({ error: { message: "Overloaded." } }, { status: 500 }));
    expect((await call("alice")).status).toBe(502);
    expect(servers.own.requests).toHaveLength(0);
    expect((await call("bob")).status).toBe(200);
    expect([servers.house.requests.length, servers.own.requests.length]).toEqual([3, 1]);
  });

  it("must be the model's", async () => {
    const { call, warnings } = await setUp(() => undefined, { onRequest: () => ({ targets: ["house/other"] }) });
    expect((await call("alice")).status).toBe(503);
    expect(warnings[0]?.message).toBe(
      'onRequest named no target of the model "acme/small", which has "own/upstream-small", "house/upstream-small". The client got a 503.',
    );
  });
});
