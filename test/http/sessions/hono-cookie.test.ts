import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { contextStorage, getContext } from "hono/context-storage";
import { deleteCookie, getSignedCookie, setSignedCookie } from "hono/cookie";
import { afterEach, expect, it } from "vitest";
import { toFetchHandler } from "../../../src/fetch.js";
import { type Host, toHost } from "../../support/adapters/host.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

const secret = "a secret of this test";

let test: TestGateway;
let host: Host;
afterEach(async () => {
  await host.close();
  await test.close();
});

it("Hono's own helpers identify who has signed in, by the context of the request", async () => {
  test = await startTestGateway({
    basePath: "/ai",
    identify: async () => {
      const userId = await getSignedCookie(getContext(), secret, "user");
      return userId ? { account: userId, plan: "basic", anchor: null } : null;
    },
  });
  const app = new Hono();
  app.use(contextStorage());
  app.post("/sign-in/:name", async (context) => {
    await setSignedCookie(context, "user", context.req.param("name"), secret, { httpOnly: true, sameSite: "Lax" });
    return context.body(null, 204);
  });
  app.post("/sign-out", (context) => {
    deleteCookie(context, "user");
    return context.body(null, 204);
  });
  app.all("/ai/*", ({ req }) => toFetchHandler(test.gateway)(req.raw));
  host = await new Promise<Host>((resolve) => {
    // `serve` makes a server of node:http by default.
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(toHost(server as Server)));
  });

  const call = (cookie: string) => {
    const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie };
    return host.fetch("/ai/v1/chat/completions", chatCall({}, { headers }));
  };
  const signIn = async (name: string) => {
    const response = await host.fetch(`/sign-in/${name}`, { method: "POST" });
    return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  };
  expect((await call("")).status).toBe(401);
  const [one, two] = [await signIn("user_1"), await signIn("user_2")];
  expect((await call(one.replace("user_1", "user_2"))).status).toBe(401);
  const answers = await Promise.all([one, two, one, two].map(call));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await Promise.all(answers.map((response) => response.text()));
  await expect.poll(() => test.events.filter(({ status }) => status === 200).length).toBe(4);
  const accounts = test.events.filter(({ status }) => status === 200).map(({ account }) => account);
  expect(accounts.toSorted()).toEqual(["user_1", "user_1", "user_2", "user_2"]);
  const left = await host.fetch("/sign-out", { method: "POST", headers: { cookie: one } });
  expect(left.headers.get("set-cookie")).toMatch(/^user=;/);
  expect(test.warnings).toEqual([]);
});
