import { gzipSync } from "node:zlib";
import compression from "compression";
import type express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { toExpressHandler } from "../../../src/express.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  hangBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { type ExpressVersion, expressAdapter, expressVersions } from "../../support/adapters/express-adapter.js";
import { type Host, listen } from "../../support/adapters/host.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { describeAdapter } from "./adapter-suite.js";
import { authorized, chatBody, chatCall, readPieces, refusal } from "./client.js";

const versions = Object.keys(expressVersions) as ExpressVersion[];

for (const version of versions) describeAdapter(expressAdapter(version));

describe.each(versions)("%s", (version) => {
  const { json, raw, text, urlencoded, Router } = expressVersions[version];
  let test: TestGateway;
  let host: Host;
  afterEach(async () => {
    await host.close();
    await test.close();
  });
  const start = async (
    mount: (app: express.Express, handler: ReturnType<typeof toExpressHandler>) => void,
    options: Partial<GatewayOptions> = {},
  ) => {
    test = await startTestGateway(options);
    const app = expressVersions[version]();
    mount(app, toExpressHandler(test.gateway));
    host = await listen(app);
  };
  const call = (init = chatCall(), path = "/v1/chat/completions") => host.fetch(path, init);
  const withType = (type: string, body: string | Uint8Array<ArrayBuffer> = chatBody(), headers = {}) =>
    chatCall({}, { headers: { ...authorized, "content-type": type, ...headers }, body });

  it("counts what a parser has read while a store takes its time", async () => {
    const gate = createGate();
    const plan = { id: "pro", models: ["acme/*"] };
    const plans = { find: () => gate.pass().then(() => plan) };
    const limits = { maxBodyBytes: 20_000, maxPendingBodyBytes: 20_000, storeTimeoutMs: 30_000 };
    await start((app, handler) => app.use(json()).use(handler), { plans, ...limits });
    const answers = [1, 2].map(() => call(chatCall({ user: "x".repeat(15_000) })));
    expect(await refusal(await Promise.race(answers))).toEqual([429, "rate_limit_exceeded"]);
    gate.open();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 429]);
    expect((await call(chatCall({ user: "x".repeat(15_000) }))).status).toBe(200);
  });

  describe.each([
    ["json()", () => json({ limit: "1mb" })],
    ["json(), raw() and text() with their defaults", () => [json({ limit: "1mb" }), raw(), text()]],
    ["raw() for all types", () => raw({ type: "*/*", limit: "1mb" })],
    ["text() for all types", () => text({ type: "*/*", limit: "1mb" })],
    ["urlencoded()", () => urlencoded({ extended: false })],
  ])("behind express.%s", (_name, parsers) => {
    it("answers as without it", async () => {
      await start((app, handler) => app.use(parsers()).use(handler), { maxBodyBytes: 100_000 });
      expect((await call()).status).toBe(200);
      expect((await call(chatCall({ user: "h\u00e9 \u{1f600}" }))).status).toBe(200);
      expect(test.upstream.lastRequest.json).toMatchObject({ user: "h\u00e9 \u{1f600}" });
      expect(await (await call(chatCall({ stream: true }))).text()).toContain("[DONE]");
      expect((await call(withType("application/vnd.api+json"))).status).toBe(200);
      expect((await call({}, "/v1/models")).status).toBe(401);
      expect(await refusal(await call(chatCall({ user: "x".repeat(200_000) })))).toEqual([413, "request_too_large"]);
      // express.json() makes an object of an empty body, in which the model is missing then.
      expect((await call(withType("application/json", ""))).status).toBe(400);
      for (const type of ["application/x-www-form-urlencoded", "text/plain", "application/octet-stream", "text/csv"]) {
        const refused = await refusal(await call(withType(type)));
        expect([type, ...refused]).toEqual([type, 415, "unsupported_content_type"]);
      }
    });
  });

  it("takes what the host's parser took for JSON, whatever it is called", async () => {
    await start((app, handler) => app.use(json({ type: "*/*" })).use(handler));
    expect((await call(withType("text/plain"))).status).toBe(200);
  });

  it.each(["json", "raw"] as const)("takes what %s() has inflated, but inflates nothing itself", async (parser) => {
    const handlerOf = { json: json(), raw: raw({ type: "*/*" }) }[parser];
    const body = new Uint8Array(gzipSync(chatBody()));
    await start((app, handler) => app.use("/parsed", handlerOf, handler).use(handler));
    const init = withType("application/json", body, { "content-encoding": "gzip" });
    expect((await call(init, "/parsed/v1/chat/completions")).status).toBe(200);
    expect(await refusal(await call(init))).toEqual([415, "unsupported_content_encoding"]);
  });

  it("refuses a parsed body that is nested deeper than JSON can be written", async () => {
    await start((app, handler) => app.use(json({ limit: "1mb" })).use(handler));
    const body = `{"model":"acme/small","messages":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    expect((await refusal(await call(chatCall({}, { body }))))[0]).toBe(400);
    expect(test.warnings).toEqual([]);
  });

  it("reads a body that middleware has looked at, paused or decoded", async () => {
    await start((app, handler) => {
      app.use((req, _res, next) => {
        req.setEncoding("utf8");
        req.pause();
        setImmediate(next);
      });
      app.use(handler);
    });
    expect((await call(chatCall({ user: "h\u00e9" }))).status).toBe(200);
    expect(test.upstream.lastRequest.json).toMatchObject({ user: "h\u00e9" });
  });

  it("does not delay events behind compression(), and lets it compress whole answers", async () => {
    await start((app, handler) => app.use(compression({ threshold: 0 })).use(handler));
    const init = (body = {}) =>
      chatCall(body, { headers: { ...authorized, "content-type": "application/json", "accept-encoding": "gzip" } });
    test.upstream.replyOnce(wholeAnswer(chatAnswer({ content: "long ".repeat(1000) })));
    const whole = await call(init());
    expect(whole.headers.get("content-encoding")).toBe("gzip");
    expect(JSON.stringify(await whole.json())).toContain("long long");
    expect((await call(init(), "/v1/models")).headers.get("content-encoding")).toBe("gzip");

    const gate = createGate();
    test.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(2);
    const streamed = await call(init({ stream: true }));
    expect(streamed.headers.get("content-encoding")).toBeNull();
    const pieces = readPieces(streamed);
    expect(await pieces.next()).toContain('"role":"assistant"');
    gate.step();
    expect(await pieces.next()).toContain("Hello");
    gate.open();
    while ((await pieces.next()) !== undefined);
  });

  it("keeps headers that the host has set", async () => {
    await start((app, handler) => {
      app.use((_req, res, next) => {
        res.setHeader("x-host", "set before");
        res.setHeader("set-cookie", ["a=1", "b=2"]);
        next();
      });
      app.use(handler);
    });
    for (const init of [chatCall(), chatCall({ stream: true }), chatCall({}, { body: "{" })]) {
      const response = await call(init);
      expect(response.headers.get("x-host")).toBe("set before");
      expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect(response.headers.get("x-powered-by")).toBe("Express");
      await response.text();
    }
  });

  it("takes a key that the host has put in place, but never one of two", async () => {
    await start((app, handler) => {
      app.use((req, _res, next) => {
        const given = req.headers["x-api-key"];
        if (given !== undefined) req.headers.authorization = `Bearer ${given}`;
        next();
      });
      app.use(handler);
    });
    const headers = { authorization: "Bearer sk-wrong", "x-api-key": "sk-pro" };
    expect((await call({ headers }, "/v1/models")).status).toBe(200);
    expect((await call({ headers: { "x-api-key": "sk-pro" } }, "/v1/models")).status).toBe(200);
  });

  it("works in routers, behind parameters and several prefixes, and as a route's handler", async () => {
    await start((app, handler) => {
      app.use("/tenant/:tenant", Router().use("/ai", handler));
      app.use(["/a", "/b"], handler);
      app.post("/v1/chat/completions", handler);
    });
    for (const prefix of ["/tenant/acme/ai", "/TENANT/a%20b/AI", "/a", "/b"]) {
      const response = await call({ headers: authorized }, `${prefix}/v1/models/acme%2Fsmall?x=1`);
      expect([prefix, response.status]).toEqual([prefix, 200]);
    }
    expect((await call()).status).toBe(200);
    expect((await call({ headers: authorized }, "/v1/models")).status).toBe(404);
  });

  it.each([
    ["/api/ai", "/API/ai", 200],
    ["/outer/api/ai", "/outer/api/ai", 200],
    ["/outer", "/outer/api/ai", 200],
    ["/outer", "/outer", 404],
    ["/", "/api/ai", 200],
    ["/", "/api/aiv1", 404],
  ])("takes basePath /api/ai mounted at %s as %s: %d", async (mount, prefix, status) => {
    await start((app, handler) => app.use(mount, handler), { basePath: "/api/ai" });
    expect((await call({ headers: authorized }, `${prefix}/v1/models`)).status).toBe(status);
  });

  it("writes nothing into an answer that the host has begun, and ends its call to the upstream", async () => {
    await start((app, handler) => {
      app.use((_req, res, next) => {
        next();
        void test.upstream.nextRequest().then(() => {
          res.status(503).end("the host's time-out");
        });
      });
      app.use(handler);
    });
    for (const stream of [false, true]) {
      test.upstream.replyOnce(hangBeforeHeaders());
      const completed = test.nextEvent();
      const response = await call(chatCall({ stream }));
      expect([response.status, await response.text()]).toEqual([503, "the host's time-out"]);
      expect(await test.upstream.lastRequest.closed).toBe("broken");
      expect(await completed).toMatchObject({ status: 499 });
    }
  });
});
