import { ExpressAuth, type ExpressAuthConfig, getSession } from "@auth/express";
import Credentials from "@auth/express/providers/credentials";
import express, { type Request } from "express";
import { afterEach, expect, it } from "vitest";
import { toExpressHandler } from "../../../src/express.js";
import type { HostRequest } from "../../../src/http/host-request.js";
import { type Host, listen } from "../../support/adapters/host.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

const authConfig: ExpressAuthConfig = {
  secret: "a secret of this test, of thirty-two characters",
  trustHost: true,
  basePath: "/auth",
  providers: [
    Credentials({
      credentials: { name: {}, password: {} },
      authorize: ({ name, password }) => (password === "right" ? { id: `user_${String(name)}` } : null),
    }),
  ],
  callbacks: {
    session: ({ session, token }) => ({ ...session, user: { ...session.user, id: token.sub ?? "" } }),
  },
  logger: { error: () => {}, warn: () => {} },
};

let test: TestGateway;
let host: Host;
afterEach(async () => {
  await host.close();
  await test.close();
});

it("Auth.js in Express identifies who has signed in", async () => {
  test = await startTestGateway({
    identify: async (request) => {
      const session = await getSession((request as HostRequest<Request>).raw, authConfig);
      return session?.user?.id ? { account: session.user.id, plan: "basic", anchor: null } : null;
    },
  });
  const app = express();
  app.use("/auth", ExpressAuth(authConfig));
  app.use("/ai", toExpressHandler(test.gateway));
  host = await listen(app);

  const cookiesOf = (response: Response) => response.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
  const call = (cookie: string) => {
    const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie };
    return host.fetch("/ai/v1/chat/completions", chatCall({}, { headers }));
  };
  const signIn = async (password: string) => {
    const csrf = await host.fetch("/auth/csrf");
    const { csrfToken } = (await csrf.json()) as { csrfToken: string };
    const response = await host.fetch("/auth/callback/credentials", {
      method: "POST",
      redirect: "manual",
      headers: { cookie: cookiesOf(csrf).join("; ") },
      body: new URLSearchParams({ csrfToken, name: "ada", password }),
    });
    return cookiesOf(response).find((cookie) => /session-token=./.test(cookie)) ?? "";
  };
  expect((await call("")).status).toBe(401);
  expect(await signIn("wrong")).toBe("");
  const cookie = await signIn("right");
  const event = test.nextEvent();
  expect((await call(cookie)).status).toBe(200);
  expect(await event).toMatchObject({ source: "session", account: "user_ada" });
  expect((await call(`${cookie}x`)).status).toBe(401);
  expect(test.warnings).toEqual([]);
});
