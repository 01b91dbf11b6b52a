import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { GatewayWarning } from "../../../src/events/warning.js";
import type { Mountable } from "../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import {
  type AccountIdentity,
  type AccountPageOptions,
  createAccountPage,
  createOperatorPage,
} from "../../../src/pages.js";
import { memoryAuditTrail } from "../../../src/stores/memory/memory-audit-trail.js";
import { memoryAccountStore, memoryBudgetStore, memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const start = Date.UTC(2026, 2, 10, 12);
const clock = {
  ms: start,
  now: () => clock.ms,
};
const people: Record<string, AccountIdentity> = {
  olga: { account: "acme", name: "Olga" },
  ada: { account: "acme", role: "member", tags: { member: "ada" } },
  eve: { account: "other" },
};
const maxKeys = 3;

let test: TestGateway;
let page: Mountable;
let warnings: GatewayWarning[];

async function startPage(options: Partial<GatewayOptions> = {}, further: Partial<AccountPageOptions> = {}) {
  warnings = [];
  test = await startTestGateway({
    clock,
    keys: memoryKeyStore([]),
    accounts: memoryAccountStore(["acme", "other"].map((id) => ({ id, plan: "pro" }))),
    budgets: memoryBudgetStore(),
    audit: memoryAuditTrail(),
    ...options,
  });
  page = createAccountPage({
    gateway: test.gateway,
    clock,
    maxKeys,
    identify: (request) => people[request.header("cookie") ?? ""],
    onWarning: (warning) => warnings.push(warning),
    ...further,
  });
}
beforeEach(() => {
  clock.ms = start;
});
afterEach(() => test.close());

function toRequest(who: string, method: string, path: string, init: RequestInit = {}): Request {
  const headers = { cookie: who, "sec-fetch-site": "same-origin", "content-type": "application/json" };
  return new Request(`http://app.test/api/${path}`, { ...init, method, headers: { ...headers, ...init.headers } });
}

async function call(who: string, method: string, path: string, body?: object) {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await page.handler(toRequest(who, method, path, init));
  return { status: response.status, json: JSON.parse((await response.text()) || "null") };
}

async function inForce(): Promise<number> {
  return (await call("olga", "GET", "me")).json.keys.in_force;
}

describe("more keys than there may be", () => {
  beforeEach(() => startPage());

  it("do not come of rotations with a time of grace, which add one to each key at most", async () => {
    let { json: key } = await call("olga", "POST", "keys", { name: "first" });
    const statuses: number[] = [];
    for (let round = 0; round < 2 * maxKeys; round++) {
      const made = await call("olga", "POST", `keys/${key.id}/rotate`, { grace_seconds: 7_000_000 });
      statuses.push(made.status);
      if (made.status === 201) key = made.json;
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, 409]);
    expect(await inForce()).toBe(2 * maxKeys);
    // Without a time of grace there are none more.
    expect((await call("olga", "POST", `keys/${key.id}/rotate`, {})).status).toBe(201);
    expect(await inForce()).toBe(2 * maxKeys);
  });

  it("do not come of keys that have expired, and get another end", async () => {
    const expires_at = start / 1000 + 5;
    const old = await call("olga", "POST", "keys", { name: "old", expires_at });
    clock.ms += 10_000;
    for (let count = 0; count < maxKeys; count++) await call("olga", "POST", "keys", { name: "new" });
    const extended = await call("olga", "PATCH", `keys/${old.json.id}`, { expires_at: null });
    expect([extended.status, extended.json.error?.code]).toEqual([409, "too_many_keys"]);
    expect((await call("olga", "PATCH", `keys/${old.json.id}`, { name: "renamed" })).json.name).toBe("renamed");
    expect(await inForce()).toBe(maxKeys);
  });
});

describe("keys that are made and revoked in turn", () => {
  beforeEach(() => startPage());

  const makeNext: [string, (who: string, id: string) => ReturnType<typeof call>][] = [
    [
      "by revoking",
      async (who, id) => {
        await call(who, "POST", `keys/${id}/revoke`, {});
        return call(who, "POST", "keys", { name: "next" });
      },
    ],
    ["by rotating", (who, id) => call(who, "POST", `keys/${id}/rotate`, {})],
    [
      "by letting them expire",
      (who) => {
        clock.ms += 1001;
        return call(who, "POST", "keys", { name: "next", expires_at: Math.floor(clock.ms / 1000) + 1 });
      },
    ],
  ];

  it.each(
    makeNext.flatMap(([name, next]) => [
      { who: "ada", most: 10 * maxKeys, name, next },
      { who: "olga", most: 20 * maxKeys, name, next },
    ]),
  )("are so many a day: $most of $who, $name", async ({ who, most, next }) => {
    let made = await call(who, "POST", "keys", { name: "first", expires_at: start / 1000 + 1 });
    for (let count = 1; count < most; count++) {
      made = await next(who, made.json.id);
      expect(made.status).toBe(201);
    }
    const { id } = made.json;
    expect(await next(who, id)).toMatchObject({ status: 429, json: { error: { code: "too_many_new_keys" } } });
    expect(await call(who, "PATCH", `keys/${id}`, { name: "renamed" })).toMatchObject({ status: 200 });
    expect(await test.gateway.keys.list("acme")).toHaveLength(most);
    expect((await call("eve", "POST", "keys", { name: "another account's" })).status).toBe(201);
    // A member who has made as many as members may leaves the owner some.
    if (who === "ada") expect((await call("olga", "POST", "keys", { name: "in need" })).status).toBe(201);
    clock.ms += 86_400_000;
    expect((await call(who, "POST", "keys", { name: "the day after" })).status).toBe(201);
  });

  it("may be made again when enough of them are a day old, and the answer says when", async () => {
    for (let count = 0; count < 25 * maxKeys; count++) {
      await test.gateway.keys.create({ account: "acme", expiresAt: clock.ms + 1 });
      clock.ms += 60_000;
    }
    const make = () => page.handler(toRequest("olga", "POST", "keys", { body: '{"name":"key"}' }));
    const refused = await make();
    expect(refused.status).toBe(429);
    clock.ms += Number(refused.headers.get("retry-after")) * 1000;
    expect(clock.ms).toBe(start + 5 * maxKeys * 60_000 + 86_400_000);
    expect((await make()).status).toBe(201);
  });
});

describe("who a reader says to be", () => {
  beforeEach(() => startPage());

  it.each([
    ["an operator", "root@acme.test"],
    ["nobody", ""],
    ["lines and marks", "a\nb\u0000\u202E"],
    ["half of a character at the end", `${"x".repeat(127)}😀`],
  ])("is not who the audit trail says has acted, and stops nothing: %s", async (_name, name) => {
    page = createAccountPage({ gateway: test.gateway, clock, identify: () => ({ account: "acme", name }) });
    expect((await call("", "POST", "keys", { name: "key" })).status).toBe(201);
    const { entries } = await test.gateway.audit.list();
    expect(entries).toMatchObject([{ by: "acme", note: expect.stringMatching(/^on the account page/) }]);
    expect(entries[0]?.note).not.toMatch(/[\0\n\u202E]/);
  });

  it("stands beside the tags of a member", async () => {
    await call("ada", "POST", "keys", { name: "key" });
    const { entries } = await test.gateway.audit.list();
    expect(entries).toMatchObject([{ by: "acme", note: "on the account page, member=ada" }]);
  });
});

describe("a member's keys", () => {
  beforeEach(() => startPage());

  it("are not filed under what has a budget, or tells others apart; under what is free they are", async () => {
    await test.gateway.budgets.put("acme", { tag: "team", value: "blue", credits: { month: 5 } });
    const make = (tags: object) => call("ada", "POST", "keys", { name: "key", tags });
    const refused = await make({ project: "p", team: "blue" });
    expect([refused.status, refused.json.error]).toMatchObject([403, { code: "owner_only", param: "tags" }]);
    const free = await make({ project: "p", team: "red" });
    expect([free.status, free.json.tags]).toEqual([201, { member: "ada", project: "p", team: "red" }]);
    const path = `keys/${free.json.id}`;
    expect((await call("ada", "PATCH", path, { tags: { team: "blue" } })).status).toBe(403);
    expect((await call("olga", "PATCH", path, { tags: { member: "ada", team: "blue" } })).status).toBe(200);
    // What the owner has said stays so when the member saves the form.
    const kept = await call("ada", "PATCH", path, { name: "desk", tags: { member: "ada", team: "blue" } });
    expect([kept.status, kept.json.tags]).toEqual([200, { member: "ada", team: "blue" }]);
  });

  it("count by themselves, until the account has as many as it may have", async () => {
    const keysOf = async (who: string) => (await call(who, "GET", "me")).json.keys;
    await call("olga", "POST", "keys", { name: "owner's" });
    await call("ada", "POST", "keys", { name: "member's" });
    expect(await keysOf("ada")).toEqual({ in_force: 1, own: 1, max: maxKeys });
    expect(await keysOf("olga")).toEqual({ in_force: 2, own: 2, max: maxKeys });
    await call("olga", "POST", "keys", { name: "another" });
    expect(await keysOf("ada")).toEqual({ in_force: 3, own: 1, max: maxKeys });
  });

  it("are not filed under another member, where members are known by their team", async () => {
    page = createAccountPage({
      gateway: test.gateway,
      clock,
      identify: () => ({ account: "acme", role: "member", tags: { team: "red" } }),
    });
    expect((await call("", "POST", "keys", { name: "key", tags: { member: "bob" } })).status).toBe(403);
    expect(await test.gateway.keys.list("acme")).toEqual([]);
  });
});

describe("bodies that never end", () => {
  it("of one account do not keep those of another out", async () => {
    await startPage();
    const requests = Array.from({ length: 16 }, () => hangingBody(65_536));
    const ended = requests.map(({ body }) => page.handler(toRequest("eve", "POST", "keys", { body, ...streamed })));
    await Promise.all(requests.map(({ isTaken }) => isTaken));
    const { body, end } = hangingBody(0);
    const response = page.handler(toRequest("olga", "POST", "keys", { body, ...streamed }));
    end('{"name":"mine"}');
    expect((await response).status).toBe(201);
    for (const each of requests) each.end("");
    expect((await Promise.all(ended)).every(({ status }) => status === 400 || status === 429)).toBe(true);
  });
});

const streamed = { duplex: "half" } as RequestInit;

/** Some blanks, and then nothing until it is ended. */
function hangingBody(bytes: number) {
  let taken: () => void;
  const isTaken = new Promise<void>((resolve) => {
    taken = resolve;
  });
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        if (bytes > 0) given.enqueue(new TextEncoder().encode(" ".repeat(bytes)));
      },
      // The first piece has been read when another is asked for.
      pull: () => taken(),
      cancel: () => taken(),
    },
    { highWaterMark: 1 },
  );
  const end = (text: string) => {
    try {
      if (text !== "") controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    } catch {
      // It was refused and is closed.
    }
  };
  return { body, isTaken, end };
}

describe("a store that hangs", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is given up after a while, and those that wait for their turn get it when it is back", async () => {
    const inner = memoryKeyStore([]);
    let hangs = true;
    let asked: () => void;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let count = 0;
    const list: typeof inner.list = (account) => {
      if (!hangs) return inner.list(account);
      // For the list, and for the first of the two that make a key.
      if (++count === 2) asked();
      return new Promise(() => {});
    };
    await startPage({ keys: Object.assign({}, inner, { list }) });
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const stuck = [call("olga", "POST", "keys", { name: "one" }), call("olga", "POST", "keys", { name: "two" })];
    const read = call("olga", "GET", "keys");
    await isAsked;
    hangs = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await Promise.all([...stuck, read])).map(({ status }) => status)).toEqual([503, 503, 503]);
    expect((await call("olga", "POST", "keys", { name: "three" })).status).toBe(201);
    // What nobody waits for any more is not made.
    expect((await call("olga", "GET", "keys")).json.data.map(({ name }: { name: string }) => name)).toEqual(["three"]);
  });
});

describe("a reader that leaves before the model has said a word", () => {
  it("is no bug of the gateway", async () => {
    await startPage();
    let asked: () => void;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    test.upstream.reply(() => {
      asked();
      return new Promise(() => {});
    });
    const leaving = new AbortController();
    const body = JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "hello" }] });
    const event = test.nextEvent();
    const response = page.handler(toRequest("olga", "POST", "try", { body, signal: leaving.signal }));
    await isAsked;
    leaving.abort();
    expect((await response).status).toBe(499);
    expect((await event).endReason).toBe("client_gone");
    expect(warnings).toEqual([]);
  });
});

describe("an identity that throws when it is read", () => {
  it.each([
    ["an error", new Error("postgres://user:secret@host")],
    ["nothing", null],
  ])("with %s is a 503, with a warning that tells no secret", async (_name, thrown) => {
    const found = {
      get account(): string {
        throw thrown;
      },
    };
    await startPage({}, { identify: () => found });
    expect((await call("", "GET", "me")).status).toBe(503);
    expect(warnings).toMatchObject([{ code: "identify_failed", message: expect.not.stringContaining("secret") }]);
  });
});

describe("a nonce of the host's", () => {
  it.each<[string, () => unknown]>([
    ["that throws", () => expect.unreachable("postgres://user:secret@host")],
    ["that rejects", () => Promise.reject(new Error("postgres://user:secret@host"))],
    ["that is no text", () => 5],
  ])("%s is a 503, with a warning", async (_name, scriptNonce) => {
    await startPage({}, { scriptNonce: scriptNonce as () => string });
    const response = await page.handler(toRequest("olga", "GET", "../../"));
    expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining("secret")]);
    expect(warnings).toMatchObject([{ code: "hook_failed" }]);
    expect(warnings[0]?.message).not.toContain("secret");
  });
});

describe("a condition that is not understood", () => {
  it.each<[Record<string, string>, number]>([
    [{ "if-match": "abc" }, 400],
    [{ "if-match": "*" }, 400],
    [{ "if-match": 'W/"1"' }, 400],
    [{ "if-match": "" }, 400],
    [{ "if-match": '"1"', "if-none-match": "*" }, 400],
    [{ "if-none-match": '"1"' }, 400],
    [{ "if-none-match": "*" }, 412],
    [{ "if-match": '"another"' }, 412],
  ])("changes nothing: %j", async (headers, status) => {
    await startPage();
    page = createOperatorPage({ gateway: test.gateway, identify: () => ({ operator: "root" }) });
    const body = JSON.stringify({ plan: "basic" });
    const response = await page.handler(toRequest("", "PATCH", "account?id=acme", { headers, body }));
    expect(response.status).toBe(status);
    expect((await test.gateway.accounts.get("acme"))?.plan).toBe("pro");
  });
});

describe("more sums of usage than a page can show", () => {
  it("are refused", async () => {
    await startPage();
    const many = Array.from({ length: 10_001 }, (_, place) => ({
      by: { model: `model-${place}` },
      ...{ requests: 1, chargedMicro: 1, tokens: { input: 1, cachedInput: 0, output: 1, reasoning: 0 } },
    }));
    const gateway = { ...test.gateway, usage: async () => many };
    page = createAccountPage({ gateway, clock, identify: () => ({ account: "acme" }) });
    const { status, json } = await call("", "GET", `usage?from=${start / 1000}&by=model`);
    expect([status, json.error.code]).toEqual([400, "invalid_value"]);
  });
});
