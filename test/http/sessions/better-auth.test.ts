import { serve } from "@hono/node-server";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { Hono } from "hono";
import { afterEach, expect, it } from "vitest";
import { toFetchHandler } from "../../../src/fetch.js";
import { toNodeHandler } from "../../../src/node.js";
import { memoryAccountStore } from "../../../src/stores/memory/memory-stores.js";
import { type Host, listen, toHost } from "../../support/adapters/host.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

const mounts: Record<string, (test: TestGateway) => Promise<Host>> = {
  "node:http": ({ gateway }) => listen(toNodeHandler(gateway)),
  Hono: ({ gateway }) => {
    const app = new Hono().all("/v1/*", ({ req }) => toFetchHandler(gateway)(req.raw));
    return new Promise((resolve) => {
      // `serve` makes a server of node:http by default.
      const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () =>
        resolve(toHost(server as import("node:http").Server)),
      );
    });
  },
};

let test: TestGateway;
let host: Host | undefined;
afterEach(async () => {
  await host?.close();
  host = undefined;
  await test.close();
});

it.each(Object.keys(mounts))("better-auth identifies who has signed in, until the sign-out, on %s", async (name) => {
  const auth = betterAuth({
    baseURL: "http://app.test",
    secret: "a secret of this test, of thirty-two characters",
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
  });
  test = await startTestGateway({
    identify: async ({ headers }) => {
      const session = await auth.api.getSession({ headers });
      return session && { account: session.user.id, plan: "basic", anchor: null };
    },
  });
  host = (await mounts[name]?.(test)) as Host;
  const call = (cookie: string) => {
    const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie };
    return (host as Host).fetch("/v1/chat/completions", chatCall({}, { headers }));
  };
  expect((await call("")).status).toBe(401);
  const body = { name: "Ada", email: "ada@example.com", password: "correct horse battery" };
  const signedIn = await auth.api.signUpEmail({ body, asResponse: true });
  const { user } = (await signedIn.json()) as { user: { id: string } };
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const event = test.nextEvent();
  expect((await call(cookie)).status).toBe(200);
  expect(await event).toMatchObject({ source: "session", account: user.id });
  await auth.api.signOut({ headers: new Headers({ cookie }) });
  expect((await call(cookie)).status).toBe(401);
  expect(test.warnings).toEqual([]);
});

it("a hook of better-auth makes accounts at the gateway, whose `identify` asks better-auth", async () => {
  const accounts = memoryAccountStore();
  test = await startTestGateway({
    accounts,
    identify: async ({ headers }) => {
      const session = await auth.api.getSession({ headers });
      return session && { account: session.user.id };
    },
  });
  const auth = betterAuth({
    baseURL: "http://app.test",
    secret: "a secret of this test, of thirty-two characters",
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    databaseHooks: {
      user: { create: { after: async ({ id }) => void (await test.gateway.accounts.put({ id, plan: "basic" })) } },
    },
  });
  const body = { name: "Ada", email: "ada@example.com", password: "correct horse battery" };
  const signedIn = await auth.api.signUpEmail({ body, asResponse: true });
  const { user } = (await signedIn.json()) as { user: { id: string } };
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const { headers, ...init } = chatCall({}, { headers: { "content-type": "application/json" } });
  const request = () =>
    new Request("http://app.test/v1/chat/completions", {
      ...init,
      headers: { ...(headers as Record<string, string>), cookie, "sec-fetch-site": "same-origin" },
    });
  expect((await test.gateway.handler(request())).status).toBe(200);
  expect(await test.gateway.caller(request())).toMatchObject({ account: user.id, plan: "basic" });
  expect(test.warnings).toEqual([]);
});
