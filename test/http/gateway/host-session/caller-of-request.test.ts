import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import type { OwnRequest } from "../../../../src/gateway/identity/identified-callers.js";
import type { Identity } from "../../../../src/gateway/identity/identity.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { HostRequest } from "../../../../src/http/host-request.js";
import { memoryAccountStore } from "../../../../src/stores/memory/memory-stores.js";
import { type Host, listen } from "../../../support/adapters/host.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway;
let host: Host | undefined;
afterEach(async () => {
  await host?.close();
  host = undefined;
  await test.close();
});

/** Who is signed in stands in the cookie, as the account's id. */
const identify = ({ header }: Pick<HostRequest, "header">): Identity | null => {
  const account = header("cookie");
  if (account === undefined) return null;
  return { account, plan: "pro", anchor: 1_000, tags: { member: "ada" }, name: "Ada", locale: "de-AT" };
};

async function start(options: Partial<GatewayOptions> = {}): Promise<void> {
  test = await startTestGateway({
    identify,
    ...options,
  });
}

function fromPage(cookie: string, headers: Record<string, string> = {}): RequestInit {
  return { method: "POST", headers: { cookie, "sec-fetch-site": "same-origin", ...headers }, body: '{"text":"Hi"}' };
}

const toChat = (init: RequestInit) => new Request("http://app.test/api/chat", init);

/** What the two roads of the same session say: the gateway's own, and `caller`. */
async function bothSay(init: RequestInit) {
  const request = chatRequest({}, null);
  for (const [name, value] of Object.entries(init.headers as Record<string, string>)) request.headers.set(name, value);
  const response = await test.gateway.handler(request);
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  const thrown = await test.gateway.caller(toChat(init)).catch((cause) => cause);
  return [
    [response.status, error?.code, error?.message],
    [thrown?.status, thrown?.code, thrown?.message],
  ];
}

describe("gateway.caller", () => {
  it("knows the client's address as the gateway's own routes do", async () => {
    const addresses: unknown[] = [];
    await start({
      trustProxy: 2,
      identify: (request) => {
        addresses.push(request.ip);
        return identify(request);
      },
    });
    const init = fromPage("acct_1", { "x-forwarded-for": "1.1.1.1, 2001:db8::7, 10.0.0.1" });
    const request = toChat(init);
    await test.gateway.caller(request);
    expect(await request.text()).toBe('{"text":"Hi"}');
    expect(addresses).toEqual(["2001:db8::7"]);
  });

  it("finds who is signed in, whose calls `as` then makes, filed as those of the session", async () => {
    await start();
    const request = toChat(fromPage("acct_1"));
    const caller = await test.gateway.caller(request);
    expect(caller).toEqual({ account: "acct_1", plan: "pro", anchor: 1_000, tags: { member: "ada" }, key: "session" });
    // The route's own body is still there to read.
    expect(await request.json()).toEqual({ text: "Hi" });
    const { fetch, baseURL } = test.gateway.as(caller as NonNullable<typeof caller>);
    const event = test.nextEvent();
    const { body, headers } = chatRequest({}, null);
    const sent = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    expect((await fetch(`${baseURL}/chat/completions`, sent)).status).toBe(200);
    expect(await event).toMatchObject({ source: "in_process", account: "acct_1", tags: { member: "ada" } });
    const { entries } = await test.gateway.accounts.history("acct_1");
    expect(entries).toMatchObject([{ tags: { keyId: "session", "tag.member": "ada" } }]);
  });

  it("finds no more than `as` needs: it takes an identity itself, too", async () => {
    await start();
    const identity = identify({ header: () => "acct_1" }) as Identity;
    const usage = await test.gateway.as(identity).usage();
    expect(usage).toMatchObject({ plan: "pro" });
    expect(await test.gateway.as((await test.gateway.caller(toChat(fromPage("acct_1")))) ?? identity).usage()).toEqual(
      usage,
    );
  });

  it("is null for a visitor, and for who brings an API key only", async () => {
    await start();
    const visitor = { method: "POST", headers: { "sec-fetch-site": "same-origin" } };
    expect(await test.gateway.caller(toChat(visitor))).toBeNull();
    const withKey = { ...visitor, headers: { ...visitor.headers, authorization: "Bearer sk-pro" } };
    expect(await test.gateway.caller(toChat(withKey))).toBeNull();
  });

  it("gives the terms of the account's record, which win", async () => {
    await start({ accounts: memoryAccountStore([{ id: "acct_1", plan: "basic", anchor: 5_000 }]) });
    expect(await test.gateway.caller(toChat(fromPage("acct_1")))).toMatchObject({ plan: "basic", anchor: 5_000 });
    expect(await test.gateway.caller(toChat(fromPage("acct_2")))).toMatchObject({ plan: "pro", anchor: 1_000 });
    expect(test.warnings).toMatchObject([{ code: "terms_differ" }]);
  });

  it("refuses as the gateway does: suspended accounts, other origins, accounts without a plan, failures", async () => {
    const accounts = memoryAccountStore([
      { id: "acct_stopped", plan: "pro", status: "suspended", message: "Not paid." },
    ]);
    await start({
      accounts,
      identify: (request) => {
        const account = request.header("cookie");
        if (account === "broken") throw new Error("secret of the host");
        return account ? { account } : null;
      },
    });
    for (const [init, status, code] of [
      [fromPage("acct_stopped"), 403, "account_suspended"],
      [fromPage("acct_pro", { "sec-fetch-site": "cross-site" }), 403, "cross_site_request"],
      [fromPage("acct_none"), 403, "account_without_plan"],
      [fromPage("broken"), 503, "service_unavailable"],
    ] as const) {
      const [overHttp, byCaller] = await bothSay(init);
      expect(overHttp).toMatchObject([status, code, expect.any(String)]);
      expect(byCaller).toEqual(overHttp);
    }
  });

  it("refuses once the gateway is closed, and says what is missing without `identify`", async () => {
    await start();
    await test.gateway.close();
    await expect(test.gateway.caller(toChat(fromPage("acct_1")))).rejects.toMatchObject({ status: 503 });
    await test.close();
    test = await startTestGateway();
    await expect(test.gateway.caller(toChat(fromPage("acct_1")))).rejects.toThrow(/no `identify`/);
  });
});

const servers: Record<string, (answer: (request: OwnRequest) => Promise<string>) => Promise<Host>> = {
  "node:http": (answer) => listen((req, res) => void answer(req).then((text) => res.end(text))),
  Express: (answer) => listen(express().post("/own", (req, res) => void answer(req).then((text) => res.send(text)))),
  Fastify: async (answer) => {
    const app = fastify();
    app.post("/own", (request) => answer(request));
    await app.listen({ port: 0, host: "127.0.0.1" });
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    return { origin, fetch: (path, init) => fetch(origin + path, init), close: () => app.close() };
  },
};

it.each(Object.keys(servers))("gateway.caller takes the requests of %s, whose `raw` they are", async (name) => {
  let given: OwnRequest | undefined;
  const seen: unknown[] = [];
  await start({
    identify: (request) => {
      seen.push(request.raw === given, request.method, request.url, request.headers.get("cookie"));
      return identify({ header: (header) => request.header(header) });
    },
  });
  host = await servers[name]?.(async (request) => {
    given = request;
    const caller = await test.gateway.caller(request).catch((error) => error.code);
    return JSON.stringify(caller?.account ?? caller);
  });
  const send = async (headers: Record<string, string>) =>
    (await host
      ?.fetch("/own?a=1", { method: "POST", headers, body: '{"text":"Hi"}' })
      .then((all) => all?.json())) as unknown;
  const json = { "content-type": "application/json", cookie: "acct_1" };
  expect(await send({ ...json, origin: host?.origin ?? "" })).toBe("acct_1");
  expect(seen).toEqual([true, "POST", "/own?a=1", "acct_1"]);
  expect(await send({ ...json, origin: "https://evil.example" })).toBe("cross_site_request");
});
