import { AsyncLocalStorage } from "node:async_hooks";
import fc from "fast-check";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import type { Identify } from "../../../../src/gateway/identity/identity.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { KeyStore, StoredKey } from "../../../../src/records/keys/key-store.js";
import { memoryKeyStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatRequest, getRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

async function start(identify: Identify, options: Partial<GatewayOptions> = {}): Promise<void> {
  test = await startTestGateway({ identify, ...options });
}

function fromPage(request = chatRequest({}, null)): Request {
  request.headers.set("sec-fetch-site", "same-origin");
  return request;
}

async function send(request = fromPage()): Promise<[status: number, text: string]> {
  const response = await test.gateway.handler(request);
  return [response.status, await response.text()];
}

type List = (account: string) => Promise<readonly StoredKey[]>;

function withList(keys: KeyStore, list: List): KeyStore {
  return Object.assign({ ...keys }, { list });
}

const known = { account: "acct_pro", plan: "pro", anchor: null };

describe("identify that fails", () => {
  it.each([
    [
      "throws",
      () => {
        throw new Error("secret of the host");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("secret of the host");
      },
    ],
    ["rejects with nothing", () => Promise.reject()],
  ] satisfies [string, Identify][])("where it %s is a 503 without detail, and a warning", async (_how, identify) => {
    await start(identify);
    const response = await test.gateway.handler(fromPage());
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: { code: "service_unavailable" } });
    expect(text).not.toContain("secret");
    expect(test.warnings).toMatchObject([{ code: "identify_failed", requestId: response.headers.get("x-request-id") }]);
    expect(test.warnings[0]?.message).not.toContain("secret");
    expect(test.upstream.requests).toEqual([]);
  });

  it("is a 503 when it takes longer than storeTimeoutMs", async () => {
    await start(() => new Promise(() => {}), { storeTimeoutMs: 20 });
    expect((await send())[0]).toBe(503);
    expect(test.warnings).toMatchObject([{ code: "identify_failed", cause: { name: "TimeLimitError" } }]);
  });

  it.each([
    ["no account", {}],
    ["an empty account", { account: "" }],
    ["undefined as a text", { account: String(undefined) }],
    ["null as a text", { account: String(null) }],
    ["an object as a text", { account: String({}) }],
    ["a promise as a text", { account: String(Promise.resolve()) }],
    ["not a number as a text", { account: String(Number.NaN) }],
    ["a number", { account: 7 }],
    ["a control character", { account: "a\nb" }],
    ["half of a surrogate pair", { account: "\ud800" }],
    ["more than 128 characters", { account: "x".repeat(129) }],
    ["an empty plan", { account: "a", plan: "" }],
    ["a plan of null", { account: "a", plan: null }],
    ["undefined as a plan", { account: "a", plan: "undefined" }],
    ["an anchor that is no date", { account: "a", plan: "pro", anchor: "soon" }],
    ["an array", [known]],
    ["a text", "acct_pro"],
    ["true", true],
    ["an empty text", ""],
    ["zero", 0],
  ])("of an identity with %s is a 503 and a warning that names no value", async (_what, identity) => {
    await start(() => identity as never);
    expect((await send())[0]).toBe(503);
    expect(test.warnings).toMatchObject([{ code: "identify_failed" }]);
    expect(test.warnings[0]?.message).toMatch(/^`identify` found an identity that does not fit: /);
    expect(test.upstream.requests).toEqual([]);
  });
});

it.each([[null], [undefined], [false as const]])("a request for which identify answers %s is a 401", async (nobody) => {
  await start(() => nobody);
  expect((await send())[0]).toBe(401);
  expect(test.warnings).toEqual([]);
});

it("takes every account that keys may have, and ignores further members", async () => {
  let account = "";
  await start(() => ({ account, plan: "pro", anchor: null, name: null, email: "a@b.test" }) as never);
  const accounts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(accounts, async (name) => {
      fc.pre(!/^(undefined|null|NaN|\[object \w+\])$/.test(name));
      account = name;
      expect((await send(fromPage(getRequest("/v1/usage", null))))[0]).toBe(200);
    }),
    { numRuns: 50 },
  );
});

describe("the terms of an identity", () => {
  it("are those of the account's keys where it gives none", async () => {
    await start(() => ({ account: "acct_pro" }));
    const event = test.nextEvent();
    expect((await send())[0]).toBe(200);
    expect(await event).toMatchObject({ source: "session", account: "acct_pro", plan: "pro" });
    expect(test.warnings).toEqual([]);
  });

  it("share the credits, the weeks and the months with the account's keys", async () => {
    const anchor = Date.UTC(2026, 0, 15, 9);
    const keys = memoryKeyStore([{ key: "sk-anchored", account: "acct_1", plan: "pro", anchor }]);
    await start(() => ({ account: "acct_1" }), { keys });
    expect((await send())[0]).toBe(200);
    const [, bySession] = await send(fromPage(getRequest("/v1/usage", null)));
    const [, byKey] = await send(getRequest("/v1/usage", "sk-anchored"));
    const { windows } = JSON.parse(bySession) as { windows: Record<string, { used: number }> };
    expect(JSON.parse(byKey)).toMatchObject({ windows });
    expect(windows["month"]?.used).toBeGreaterThan(0);
  });

  it("of an account that is not there are the 403 of its keys, and one warning that says what to do", async () => {
    await start(() => ({ account: "acct_new" }));
    for (let times = 0; times < 3; times++) {
      const [status, text] = await send();
      expect([status, JSON.parse(text)]).toMatchObject([403, { error: { code: "account_without_plan" } }]);
    }
    const message = expect.stringMatching(/"acct_new".*Give `plan`/);
    expect(test.warnings).toMatchObject([{ code: "unknown_account", message }]);
  });

  it("that its keys do not say are a 503, and one warning that says what to do", async () => {
    const keys = memoryKeyStore([
      { key: "sk-one", account: "acct_1", plan: "pro" },
      { key: "sk-two", account: "acct_1", plan: "basic" },
    ]);
    await start(() => ({ account: "acct_1" }), { keys });
    for (let times = 0; times < 3; times++) expect((await send())[0]).toBe(503);
    expect(test.warnings).toMatchObject([{ code: "identify_failed", message: expect.stringContaining("Give `plan`") }]);
  });

  it("of an account store that fails are a 503, and a warning of that store alone", async () => {
    const accounts = { find: () => Promise.reject(new Error("down")) };
    await start(() => ({ account: "acct_1" }), { accounts });
    expect((await send())[0]).toBe(503);
    expect(test.warnings.map(({ code }) => code)).toEqual(["account_store_failed"]);
  });

  it("of a store that cannot list must all be given", async () => {
    let anchor: null | undefined;
    await start(() => ({ account: "acct_1", plan: "pro", anchor }), { keys: { find: () => undefined } });
    expect((await send())[0]).toBe(503);
    anchor = null;
    expect((await send())[0]).toBe(200);
    expect(test.warnings).toMatchObject([{ code: "identify_failed", message: expect.stringContaining("`list`") }]);
  });

  it("of a key store that fails, or hangs, are a 503 and a warning of the key store", async () => {
    const keys = memoryKeyStore([]);
    let list = (): Promise<readonly StoredKey[]> => Promise.reject(new Error("down"));
    await start(() => ({ account: "acct_1" }), { keys: withList(keys, () => list()), storeTimeoutMs: 20 });
    expect((await send())[0]).toBe(503);
    list = () => new Promise(() => {});
    expect((await send())[0]).toBe(503);
    expect(test.warnings.map(({ code }) => code)).toEqual(["key_store_failed", "key_store_failed"]);
  });
});

describe("the tags of an identity", () => {
  it("are what its calls are filed under, beside those of onRequest", async () => {
    const tags = { member: "42", team: "red" };
    const onRequest: GatewayOptions["onRequest"] = (call) => ({
      tags: { seen: String(call.tags?.["member"]), team: "blue" },
    });
    await start(() => ({ ...known, tags }), { onRequest });
    expect((await send())[0]).toBe(200);
    const filed = { member: "42", team: "blue", seen: "42" };
    await expect.poll(() => test.events.at(-1)?.tags).toEqual(filed);
    const rows = await test.gateway.accounts.usage("acct_pro", { by: ["member", "team", "seen"] });
    expect(rows).toMatchObject([{ by: filed, requests: 1 }]);
  });

  it("that no call can have are a 503, and a warning that says why", async () => {
    await start(() => ({ ...known, tags: { day: "1" } }));
    expect((await send())[0]).toBe(503);
    expect(test.warnings).toMatchObject([
      { code: "identify_failed", message: expect.stringMatching(/tags\.day: must have another name/) },
    ]);
  });
});

describe("terms that differ from those of the account's keys", () => {
  it("are one warning for an account, and the key store is read once", async () => {
    const keys = memoryKeyStore([{ key: "sk-1", account: "acct_1", plan: "pro" }]);
    let lists = 0;
    const list = (account: string) => {
      lists++;
      return keys.list(account);
    };
    await start(() => ({ account: "acct_1", plan: "basic", anchor: 0 }), { keys: withList(keys, list) });
    for (let times = 0; times < 5; times++) expect((await send())[0]).toBe(200);
    expect(test.warnings).toMatchObject([
      { code: "terms_differ", message: expect.stringMatching(/"acct_1" another plan and another anchor/) },
    ]);
    expect(lists).toBe(1);
  });

  it("are none where they are the same, by another way to write a date", async () => {
    const anchor = Date.UTC(2026, 3, 1);
    const keys = memoryKeyStore([
      { key: "sk-1", account: "acct_1", plan: "pro", anchor: new Date(anchor) },
      { key: "sk-2", account: "acct_1", plan: "basic", revokedAt: 0 },
    ]);
    await start(() => ({ account: "acct_1", plan: "pro", anchor: "2026-04-01T00:00:00Z" }), { keys });
    expect((await send())[0]).toBe(200);
    await new Promise(setImmediate);
    expect(test.warnings).toEqual([]);
  });

  it("are noticed after the session's plan has changed", async () => {
    let plan = "pro";
    await start(() => ({ account: "acct_pro", plan, anchor: null }));
    expect((await send())[0]).toBe(200);
    expect(test.warnings).toEqual([]);
    plan = "basic";
    expect((await send())[0]).toBe(200);
    expect(test.warnings).toMatchObject([{ code: "terms_differ" }]);
  });

  it("are noticed once the key store is back", async () => {
    const keys = memoryKeyStore([{ key: "sk-1", account: "acct_1", plan: "pro" }]);
    let isAway = true;
    const list: List = async (account) => {
      if (isAway) throw new Error("down");
      return await keys.list(account);
    };
    await start(() => ({ account: "acct_1", plan: "basic", anchor: null }), { keys: withList(keys, list) });
    expect((await send())[0]).toBe(200);
    expect(test.warnings).toEqual([]);
    isAway = false;
    expect((await send())[0]).toBe(200);
    expect(test.warnings).toMatchObject([{ code: "terms_differ" }]);
  });

  it("are those of any key in force, also where the keys differ", async () => {
    const keys = memoryKeyStore([
      { key: "sk-1", account: "acct_1", plan: "pro" },
      { key: "sk-2", account: "acct_1", plan: "basic" },
    ]);
    await start(() => ({ account: "acct_1", plan: "pro", anchor: null }), { keys });
    expect((await send())[0]).toBe(200);
    expect(test.warnings).toMatchObject([
      { code: "terms_differ", message: expect.stringContaining("another plan than") },
    ]);
  });

  it("do not delay a request", async () => {
    const keys = memoryKeyStore([]);
    const list = () => new Promise<never>(() => {});
    await start(() => known, { keys: withList(keys, list) });
    expect((await send())[0]).toBe(200);
  });
});

it("calls in process do not ask identify", async () => {
  let asked = 0;
  await start(() => {
    asked++;
    return known;
  });
  const { fetch, baseURL } = test.gateway.as({ account: "acct_basic", plan: "basic", anchor: null });
  const response = await fetch(`${baseURL}/models`, { headers: { cookie: "session=s1" } });
  expect([response.status, asked]).toEqual([200, 0]);
});

it("runs in the host's AsyncLocalStorage context, by which frameworks find the request", async () => {
  const context = new AsyncLocalStorage<string>();
  await start(async () => {
    const account = context.getStore();
    return account !== undefined && { ...known, account };
  });
  expect((await context.run("acct_basic", () => send()))[0]).toBe(200);
  expect(test.events).toMatchObject([{ account: "acct_basic" }]);
  expect((await send())[0]).toBe(401);
});

it("builds nothing of a request that identify does not look at", async () => {
  await start(() => known);
  const request = fromPage();
  const clone = () => {
    throw new Error("cloned");
  };
  Object.assign(request, { clone });
  expect((await send(request))[0]).toBe(200);
});

it("takes the body from a Request whose copy nobody needs, without keeping it twice", async () => {
  await start(({ raw }) => raw instanceof Request && known);
  const request = fromPage();
  let copy: Request | undefined;
  const clone = request.clone.bind(request);
  Object.assign(request, {
    clone: () => {
      copy = clone();
      return copy;
    },
  });
  expect((await send(request))[0]).toBe(200);
  expect(request.bodyUsed).toBe(true);
  expect(copy?.bodyUsed).toBe(true);
});

it("is not asked for health checks, preflights and unknown paths", async () => {
  let asked = 0;
  await start(() => {
    asked++;
    return known;
  });
  for (const [path, method] of [
    ["/healthz", "GET"],
    ["/v1/models", "OPTIONS"],
    ["/v1/none", "GET"],
    ["/v1/models", "PUT"],
  ] as const) {
    await (await test.gateway.handler(getRequest(path, null, method))).text();
  }
  expect(asked).toBe(0);
});

it("compares with `origins` where they are given, whatever the Host header", async () => {
  await start(() => known, { origins: ["https://app.test"] });
  const statuses: number[] = [];
  for (const origin of ["https://app.test", "http://app.test", "http://internal:3000"]) {
    const request = chatRequest({}, null);
    request.headers.set("host", "internal:3000");
    request.headers.set("origin", origin);
    statuses.push((await send(request))[0]);
  }
  expect(statuses).toEqual([200, 403, 403]);
});

it("takes nothing from X-Forwarded-Host", async () => {
  await start(() => known);
  const request = chatRequest({}, null);
  request.headers.set("host", "app.test");
  request.headers.set("x-forwarded-host", "evil.test");
  request.headers.set("origin", "https://evil.test");
  expect((await send(request))[0]).toBe(403);
});

describe("CORS", () => {
  it("lets no page of another origin use a session, and never allows credentials", async () => {
    await start(() => known, { cors: { origins: ["https://partner.test"] } });
    const requests = [fromPage(), fromPage(getRequest("/v1/models", null)), chatRequest({}, "sk-pro")];
    requests.push(getRequest("/v1/models", null, "OPTIONS"));
    for (const site of ["same-site", "cross-site"]) {
      const request = fromPage();
      request.headers.set("sec-fetch-site", site);
      requests.push(request);
    }
    const statuses: number[] = [];
    for (const request of requests) {
      request.headers.set("origin", "https://partner.test");
      const response = await test.gateway.handler(request);
      expect(response.headers.get("access-control-allow-credentials")).toBeNull();
      expect(response.headers.get("access-control-allow-origin")).toBe("https://partner.test");
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses).toEqual([200, 200, 200, 204, 403, 403]);
  });

  it.each([
    [{ identify: () => null, cors: true }, /cors: \{ origins:/],
    [{ identify: () => null, cors: { origins: ["*"] } }, /must be an origin|must be true, false/],
    [{ identify: () => null, origins: ["https://app.test/"] }, /origins\[0\]: must be an origin/],
    [{ identify: () => null, origins: ["*"] }, /origins\[0\]: must be an origin/],
    [{ origins: ["https://app.test"] }, /`origins` is for `identify`/],
    [{ identify: "auth" }, /identify: must be a function/],
  ])("refuses %o at construction", async (options, message) => {
    test = await startTestGateway();
    const refused = startTestGateway(options as never);
    await expect(refused).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(message);
  });

  it("goes with named origins, and without sessions with all", async () => {
    test = await startTestGateway({ identify: () => null, cors: { origins: ["https://partner.test"] } });
    const open = await startTestGateway({ cors: true });
    onTestFinished(() => open.close());
    const none = await startTestGateway({ identify: () => null, cors: false, origins: ["https://app.test"] });
    onTestFinished(() => none.close());
  });
});
