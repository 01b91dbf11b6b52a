import type { Request } from "express";
import session from "express-session";
import { afterEach, describe, expect, it } from "vitest";
import { toExpressHandler } from "../../../src/express.js";
import type { HostRequest } from "../../../src/http/host-request.js";
import { type ExpressVersion, expressVersions } from "../../support/adapters/express-adapter.js";
import { type Host, listen } from "../../support/adapters/host.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

declare module "express-session" {
  interface SessionData {
    userId: string;
  }
}

describe.each(Object.keys(expressVersions) as ExpressVersion[])("express-session in %s", (version) => {
  let test: TestGateway;
  let host: Host;
  afterEach(async () => {
    await host.close();
    await test.close();
  });

  it("identifies who has signed in, until the sign-out", async () => {
    test = await startTestGateway({
      identify: (request) => {
        const { session } = (request as HostRequest<Request>).raw;
        return session.userId !== undefined && { account: session.userId, plan: "basic", anchor: null };
      },
    });
    const app = expressVersions[version]();
    app.use(session({ secret: "a secret of this test", resave: false, saveUninitialized: false }));
    app.use(expressVersions[version].json());
    app.post("/sign-in", (req, res) => {
      req.session.userId = "user_1";
      res.sendStatus(204);
    });
    app.post("/sign-out", (req, res) => {
      req.session.destroy(() => res.sendStatus(204));
    });
    app.use("/ai", toExpressHandler(test.gateway));
    host = await listen(app);

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
    expect((await call(`${cookie}x`)).status).toBe(401);
    await host.fetch("/sign-out", { method: "POST", headers: { cookie } });
    expect((await call(cookie)).status).toBe(401);
    expect(test.warnings).toEqual([]);
  });
});
