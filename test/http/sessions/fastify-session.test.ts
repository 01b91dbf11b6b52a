import fastifyCookie from "@fastify/cookie";
import fastifySession from "@fastify/session";
import fastify, { type FastifyRequest } from "fastify";
import { afterEach, expect, it } from "vitest";
import { toFastifyPlugin } from "../../../src/fastify.js";
import type { HostRequest } from "../../../src/http/host-request.js";
import { listenFastify } from "../../support/adapters/fastify-adapter.js";
import type { Host } from "../../support/adapters/host.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

declare module "fastify" {
  interface Session {
    userId?: string;
  }
}

let test: TestGateway;
let host: Host;
afterEach(async () => {
  await host.close();
  await test.close();
});

it("@fastify/session identifies who has signed in, until the sign-out", async () => {
  test = await startTestGateway({
    identify: (request) => {
      const { session } = (request as HostRequest<FastifyRequest>).raw;
      return session.userId !== undefined && { account: session.userId, plan: "basic", anchor: null };
    },
  });
  const app = fastify();
  await app.register(fastifyCookie);
  await app.register(fastifySession, {
    secret: "a secret of this test, of thirty-two characters",
    cookie: { secure: false },
    saveUninitialized: false,
  });
  app.post("/sign-in", async (request, reply) => {
    request.session.userId = "user_1";
    return reply.code(204).send();
  });
  app.post("/sign-out", async (request, reply) => {
    await request.session.destroy();
    return reply.code(204).send();
  });
  await app.register(toFastifyPlugin(test.gateway), { prefix: "/ai" });
  host = await listenFastify(app);

  const call = (cookie: string) => {
    const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie };
    return host.fetch("/ai/v1/chat/completions", chatCall({}, { headers }));
  };
  expect((await call("")).status).toBe(401);
  const signedIn = await host.fetch("/sign-in", { method: "POST" });
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const event = test.nextEvent();
  expect((await call(cookie)).status).toBe(200);
  expect(await event).toMatchObject({ source: "session", account: "user_1" });
  await host.fetch("/sign-out", { method: "POST", headers: { cookie } });
  expect((await call(cookie)).status).toBe(401);
  expect(test.warnings).toEqual([]);
});
