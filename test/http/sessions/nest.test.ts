import "reflect-metadata";
import { Controller, HttpCode, Module, Post, Req } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import type { Request } from "express";
import session from "express-session";
import { afterEach, expect, it } from "vitest";
import { toExpressHandler } from "../../../src/express.js";
import type { HostRequest } from "../../../src/http/host-request.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

declare module "express-session" {
  interface SessionData {
    userId: string;
  }
}

class SignInController {
  signIn(req: Request): void {
    req.session.userId = "user_1";
  }

  signOut(req: Request): Promise<void> {
    return new Promise((resolve) => req.session.destroy(() => resolve()));
  }
}

class AppModule {}

/** What the decorators do, which this repository's TypeScript does not read. */
function decorate(): void {
  const routes = { signIn: "sign-in", signOut: "sign-out" };
  for (const [name, path] of Object.entries(routes)) {
    const method = Object.getOwnPropertyDescriptor(SignInController.prototype, name) as PropertyDescriptor;
    Post(path)(SignInController.prototype, name, method);
    HttpCode(204)(SignInController.prototype, name, method);
    Req()(SignInController.prototype, name, 0);
  }
  Controller()(SignInController);
  Module({ controllers: [SignInController] })(AppModule);
}

let test: TestGateway;
let app: NestExpressApplication;
afterEach(async () => {
  await test.close();
  await app.close();
});

it("express-session identifies who has signed in to Nest, until the sign-out", async () => {
  test = await startTestGateway({
    identify: (request) => {
      const { userId } = (request as HostRequest<Request>).raw.session;
      return userId === undefined ? null : { account: userId, plan: "basic", anchor: null };
    },
  });
  decorate();
  app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: false });
  app.use(session({ secret: "a secret of this test", resave: false, saveUninitialized: false }));
  app.use("/ai", toExpressHandler(test.gateway));
  await app.listen(0, "127.0.0.1");
  const origin = await app.getUrl();

  const call = (cookie: string, content = "Say hello.") => {
    const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie };
    const messages = [{ role: "user", content }];
    return fetch(`${origin}/ai/v1/chat/completions`, chatCall({ messages }, { headers }));
  };
  expect((await call("")).status).toBe(401);
  const signedIn = await fetch(`${origin}/sign-in`, { method: "POST" });
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const event = test.nextEvent();
  expect((await call(cookie)).status).toBe(200);
  expect(await event).toMatchObject({ source: "session", account: "user_1" });
  // Nest's body parser, which limits bodies to 100 KB, comes later.
  expect((await call(cookie, "word ".repeat(30_000))).status).toBe(200);
  expect((await call(`${cookie}x`)).status).toBe(401);
  await fetch(`${origin}/sign-out`, { method: "POST", headers: { cookie } });
  expect((await call(cookie)).status).toBe(401);
  expect((await fetch(`${origin}/ai/none`)).status).toBe(404);
  expect(test.warnings).toEqual([]);
});
