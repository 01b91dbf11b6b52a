import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import type { Identify } from "../../../src/gateway/identity/identity.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import type { HostRequest } from "../../../src/http/host-request.js";
import { memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { chatChunks, createGate, eventStream } from "../../../src/testing.js";
import { expressAdapter } from "../../support/adapters/express-adapter.js";
import { fastifyAdapter } from "../../support/adapters/fastify-adapter.js";
import { fetchAdapter, honoAdapter, routeHandlersAdapter } from "../../support/adapters/fetch-adapter.js";
import { type Adapter, type HostedGateway, startHosted } from "../../support/adapters/host.js";
import { nodeAdapter } from "../../support/adapters/node-adapter.js";
import { chatBody, readPieces, refusal } from "./client.js";

const adapters: readonly Adapter[] = [
  expressAdapter("Express 4"),
  expressAdapter("Express 5"),
  fastifyAdapter("Fastify 4"),
  fastifyAdapter("Fastify 5"),
  nodeAdapter,
  fetchAdapter,
  honoAdapter,
  routeHandlersAdapter,
];

const cookie = "theme=dark; session=s1";
const sameOrigin = { cookie, "sec-fetch-site": "same-origin" };
const wholePlan = { plan: "basic", anchor: null };

describe.each(adapters)("sessions of the host's, in $name", (adapter) => {
  let test: HostedGateway;
  /** Who is signed in, by cookie. */
  let sessions: Map<string, string>;
  let asked: HostRequest[];
  afterEach(() => test.close());

  const identify: Identify = (request) => {
    asked.push(request);
    const account = sessions.get(/\bsession=(\w+)/.exec(request.header("Cookie") ?? "")?.[1] ?? "");
    return account === undefined ? null : { account, ...wholePlan };
  };
  const start = async (options: Partial<GatewayOptions> = {}): Promise<void> => {
    sessions = new Map([["s1", "acct_browser"]]);
    asked = [];
    test = await startHosted(adapter, { prefix: "/api/ai", position: "before" }, { identify, ...options });
  };
  const send = (endpoint: string, init: RequestInit) => test.host.fetch(test.path(endpoint), init);
  const chat = (headers: Record<string, string>, body: Record<string, unknown> = {}) =>
    send("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: chatBody(body),
    });
  /** What the host's own origin is to its browsers. */
  const ownHost = () => new URL(test.host.origin ?? "http://gateway.test").host;

  it("know the client's address, as far as the connection and the host's own proxies tell it", async () => {
    const forwarded = { ...sameOrigin, "x-forwarded-for": "1.1.1.1, 203.0.113.7" };
    await start();
    expect((await chat(forwarded)).status).toBe(200);
    const raw = asked[0]?.raw as { socket?: unknown } | undefined;
    const isNode = raw?.socket !== undefined;
    expect(asked[0]?.ip).toBe(isNode ? "127.0.0.1" : undefined);
    await test.close();
    await start({ trustProxy: 1 });
    expect((await chat(forwarded)).status).toBe(200);
    expect(asked[0]?.ip).toBe("203.0.113.7");
  });

  it("identify a request without a key: whole, streamed, and on every endpoint", async () => {
    await start();
    const event = test.nextEvent();
    const whole = await chat(sameOrigin);
    expect([whole.status, whole.headers.get("cache-control")]).toEqual([200, "no-store"]);
    await whole.text();
    expect(await event).toMatchObject({ source: "session", account: "acct_browser", plan: "basic", status: 200 });
    expect(await event).not.toHaveProperty("keyId");
    const streamed = await chat(sameOrigin, { stream: true });
    expect(await streamed.text()).toMatch(/data: \[DONE\]\n\n$/);
    const usage = await send("/v1/usage", { headers: sameOrigin });
    expect(await usage.json()).toMatchObject({ plan: "basic" });
    const { entries } = await test.gateway.accounts.history("acct_browser");
    expect(entries.map(({ tags }) => tags["keyId"])).toEqual(["session", "session"]);
    expect(asked).toHaveLength(3);
  });

  it("show identify the request as the host has it", async () => {
    await start();
    await (await send("/v1/models?page=2", { headers: { ...sameOrigin, "x-custom": "a" } })).text();
    const [request] = asked;
    expect(request?.method).toBe("GET");
    expect(new URL(request?.url ?? "", "http://gateway.test")).toMatchObject({
      pathname: "/api/ai/v1/models",
      search: "?page=2",
    });
    expect([request?.header("X-Custom"), request?.header("x-absent")]).toEqual(["a", undefined]);
    expect(request?.headers).toBeInstanceOf(Headers);
    expect(request?.headers).toBe(request?.headers);
    expect([request?.headers.get("Cookie"), request?.headers.get("x-custom")]).toEqual([cookie, "a"]);
    const raw = request?.raw as { headers: Headers | Record<string, string> };
    const sent = raw.headers instanceof Headers ? raw.headers.get("cookie") : raw.headers["cookie"];
    expect(sent).toBe(cookie);
  });

  it("do not count beside a key, which is the caller's", async () => {
    await start();
    const event = test.nextEvent();
    expect((await (await chat({ ...sameOrigin, authorization: "Bearer sk-pro" })).text()).length).toBeGreaterThan(0);
    expect(await event).toMatchObject({ source: "key", account: "acct_pro", keyId: "key_pro" });
    expect(asked).toEqual([]);
  });

  it.each([
    ["an unknown key", { authorization: "Bearer sk-wrong" }],
    ["an expired key", { authorization: "Bearer sk-expired" }],
    ["an empty header", { authorization: "" }],
    ["another scheme", { authorization: "Basic dXNlcjpwYXNz" }],
    ["an empty key of Anthropic's", { "x-api-key": "" }],
    ["a key of Anthropic's where OpenAI's counts", { "x-api-key": "sk-pro" }],
  ])("are no way around a 401 for %s", async (_what, credential) => {
    const expired = { key: "sk-expired", account: "acct_browser", plan: "basic", expiresAt: 0 };
    await start({ keys: memoryKeyStore([expired]) });
    expect(await refusal(await chat({ ...sameOrigin, ...credential }))).toEqual([401, "invalid_api_key"]);
    expect(asked).toEqual([]);
    expect(test.upstream.requests).toEqual([]);
  });

  it("leave the 401 as it is where nobody is signed in", async () => {
    await start();
    const response = await chat({ "sec-fetch-site": "cross-site", cookie: "session=gone" });
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="infergate"');
    expect(await refusal(response)).toEqual([401, "invalid_api_key"]);
    expect(asked).toHaveLength(1);
  });

  it("count for calls from the host's own origin alone", async () => {
    await start();
    const host = ownHost();
    const cases: [headers: Record<string, string>, status: number][] = [
      [{}, 403],
      [{ "sec-fetch-site": "same-site" }, 403],
      [{ "sec-fetch-site": "cross-site" }, 403],
      [{ "sec-fetch-site": "none" }, 403],
      [{ "sec-fetch-site": "" }, 403],
      [{ "sec-fetch-site": "cross-site", origin: `http://${host}` }, 403],
      [{ host, origin: "https://evil.test" }, 403],
      [{ host, origin: `http://api.${host}` }, 403],
      [{ host, origin: `http://${host}.evil.test` }, 403],
      [{ host, origin: "null" }, 403],
      [{ host, origin: "" }, 403],
      [{ host, origin: `http://${host}` }, 200],
      [{ host: "app.test", origin: "https://app.test" }, 200],
      [{ host: "App.test:443", origin: "https://app.test" }, 200],
      [{ host: "app.test:8443", origin: "https://app.test" }, 403],
    ];
    const seen: typeof cases = [];
    for (const [headers] of cases) {
      const [status, code] = await post(test, { cookie, ...headers });
      if (status === 403) expect(code).toBe("cross_site_request");
      seen.push([headers, status]);
    }
    expect(seen).toEqual(cases);
    expect(test.upstream.requests).toHaveLength(3);
    expect((await test.gateway.accounts.history("acct_browser")).entries).toHaveLength(3);
  });

  it("refuse in Anthropic's shape where Anthropic's clients call", async () => {
    await start();
    const response = await send("/v1/messages", {
      method: "POST",
      headers: { "content-type": "application/json", cookie },
      body: chatBody({ max_tokens: 10 }),
    });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      type: "error",
      error: { type: "permission_error", code: "cross_site_request" },
    });
  });

  it("read with GET and HEAD, but not for pages of other origins, and no cache keeps it", async () => {
    await start();
    for (const method of ["GET", "HEAD"]) {
      const statuses: number[] = [];
      for (const site of [undefined, "none", "same-origin", "same-site", "cross-site"]) {
        const headers = { cookie, ...(site === undefined ? undefined : { "sec-fetch-site": site }) };
        const response = await send("/v1/models", { method, headers });
        if (response.status === 200) expect(response.headers.get("cache-control")).toBe("no-store");
        statuses.push(response.status);
        await response.text();
      }
      expect(statuses).toEqual([200, 200, 200, 403, 403]);
    }
    const deletion = await send("/v1/responses/resp_1", { method: "DELETE", headers: { cookie } });
    expect(await refusal(deletion)).toEqual([403, "cross_site_request"]);
  });

  it("are asked for anew by each request, and a stream goes on after a sign-out", async () => {
    await start();
    const gate = createGate();
    test.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(2);
    const event = test.nextEvent();
    const pieces = readPieces(await chat(sameOrigin, { stream: true }));
    await pieces.next();
    sessions.clear();
    gate.open();
    let rest = "";
    for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next()) rest += piece;
    expect(rest).toMatch(/data: \[DONE\]\n\n$/);
    expect(await event).toMatchObject({ status: 200, endReason: "completed", account: "acct_browser" });
    expect((await chat(sameOrigin)).status).toBe(401);
  });

  it("keep the body for the gateway, or say that identify has read it", async () => {
    const readsBody = async ({ raw }: HostRequest): Promise<{ account: string; plan: string; anchor: null }> => {
      if (raw instanceof Request) await raw.json();
      else for await (const _piece of (raw as { raw?: AsyncIterable<unknown> }).raw ?? (raw as AsyncIterable<unknown>));
      return { account: "acct_browser", ...wholePlan };
    };
    await start({ identify: readsBody });
    const response = await chat(sameOrigin);
    if (adapter.bridgesItself) {
      expect(response.status).toBe(200);
      expect(JSON.parse(test.upstream.lastRequest.body.toString())).toMatchObject({ model: "upstream-small" });
    } else {
      expect(await refusal(response)).toEqual([503, "service_unavailable"]);
      expect(test.warnings).toMatchObject([
        { code: "identify_failed", message: expect.stringContaining("the request's body") },
      ]);
      expect(test.upstream.requests).toEqual([]);
    }
  });

  it("whose raw request is only looked at leave the body whole, also a large one in chunks", async () => {
    await start({ identify: ({ raw }) => raw !== undefined && { account: "acct_browser", ...wholePlan } });
    const content = "x".repeat(300_000);
    const response = await chat(sameOrigin, { messages: [{ role: "user", content }] });
    expect(response.status).toBe(200);
    expect(test.upstream.lastRequest.body.toString()).toContain(content);
  });

  it("do not let a hostile Host header through", async () => {
    await start();
    const hosts = [
      "evil.test/app.test",
      "user@app.test",
      "app.test?",
      "app.test#",
      "app.test:99999",
      "app.test\\",
      "[::1",
      "a b",
    ];
    for (const host of hosts) {
      const [status] = await post(test, { cookie, origin: "http://app.test", host });
      expect([400, 403]).toContain(status);
    }
    expect(test.upstream.requests).toEqual([]);
  });
});

/** A call with headers that `fetch` does not send as they are, such as `Host`: its status and the error's code. */
async function post(test: HostedGateway, headers: Record<string, string>): Promise<[status: number, code: unknown]> {
  const path = test.path("/v1/chat/completions");
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  if (test.host.origin === undefined) return codeOf(await test.host.fetch(path, { ...init, body: chatBody() }));
  const request = httpRequest(test.host.origin + path, init).end(chatBody());
  const [message] = (await once(request, "response")) as [IncomingMessage];
  return codeOf(new Response(await text(message), { status: message.statusCode ?? 0 }));
}

async function codeOf(response: Response): Promise<[status: number, code: unknown]> {
  const said = await response.text();
  // A host refuses some headers by itself, in its own words.
  const { error } = said.startsWith("{") ? (JSON.parse(said) as { error?: { code?: unknown } }) : {};
  return [response.status, error?.code];
}
