import { brotliCompressSync, createBrotliDecompress } from "node:zlib";
import type { FastifyServerOptions } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { toFastifyPlugin } from "../../../src/fastify.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import {
  type FastifyVersion,
  fastifyAdapter,
  fastifyVersions,
  listenFastify,
} from "../../support/adapters/fastify-adapter.js";
import type { Host } from "../../support/adapters/host.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { describeAdapter } from "./adapter-suite.js";
import { authorized, chatBody, chatCall, refusal } from "./client.js";

const versions = Object.keys(fastifyVersions) as FastifyVersion[];

for (const version of versions) describeAdapter(fastifyAdapter(version));

describe.each(versions)("%s", (version) => {
  let test: TestGateway;
  let host: Host | undefined;
  afterEach(async () => {
    await host?.close();
    host = undefined;
    await test.close();
  });
  const create = async (options: FastifyServerOptions = {}, gatewayOptions: Partial<GatewayOptions> = {}) => {
    test = await startTestGateway(gatewayOptions);
    const app = fastifyVersions[version]({ forceCloseConnections: true, ...options });
    return { app, plugin: toFastifyPlugin(test.gateway) };
  };
  const call = (path: string, init = chatCall()) => host?.fetch(path, init) ?? Promise.reject(new Error("No host."));

  it("keeps headers that hooks have set, and runs the app's hooks around the gateway", async () => {
    const { app, plugin } = await create();
    const seen: unknown[] = [];
    app.addHook("onRequest", async (_request, reply) => {
      reply.header("x-host", "set by a hook").header("set-cookie", ["a=1", "b=2"]);
    });
    app.addHook("preHandler", async (request) => void seen.push("preHandler", request.body));
    const responded = new Promise((resolve) => {
      app.addHook("onResponse", async (_request, reply) => resolve(reply.raw.statusCode));
    });
    app.register(plugin);
    host = await listenFastify(app);
    const response = await call("/v1/chat/completions", chatCall({ stream: true }));
    expect(response.headers.get("x-host")).toBe("set by a hook");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.text()).toContain("[DONE]");
    expect(await responded).toBe(200);
    expect(seen).toEqual(["preHandler", undefined]);
  });

  it("lets the app's hooks refuse, and its error handler tell", async () => {
    const { app, plugin } = await create();
    app.setErrorHandler((error, _request, reply) => reply.code(418).send(`the app's: ${(error as Error).message}`));
    app.addHook("preHandler", async () => {
      throw new Error("not today");
    });
    app.register(plugin);
    host = await listenFastify(app);
    for (const type of ["application/json", ""]) {
      const init = chatCall({}, { headers: { ...authorized, "content-type": type } });
      const response = await call("/v1/chat/completions", init);
      expect([response.status, await response.text()]).toEqual([418, expect.stringMatching(/^the app's: /)]);
    }
    expect(test.upstream.requests).toEqual([]);
  });

  it("does not touch the app's parsers and limits, nor do they touch the gateway", async () => {
    const { app, plugin } = await create({ bodyLimit: 100 }, { maxBodyBytes: 1000 });
    app.register(plugin, { prefix: "/ai" });
    app.post("/echo", (request, reply) => reply.send(request.body));
    host = await listenFastify(app);
    expect((await call("/ai/v1/chat/completions", chatCall({ user: "x".repeat(500) }))).status).toBe(200);
    expect(await refusal(await call("/ai/v1/chat/completions", chatCall({ user: "x".repeat(1000) })))).toEqual([
      413,
      "request_too_large",
    ]);
    expect(await (await call("/echo", chatCall({}, { body: '{"a":1}' }))).json()).toEqual({ a: 1 });
    expect((await call("/echo", chatCall({ user: "x".repeat(500) }))).status).toBe(413);
  });

  it("reads what a preParsing hook has inflated", async () => {
    const { app, plugin } = await create();
    app.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(createBrotliDecompress()));
    // It may fail before the gateway gets to read it.
    app.addHook("preHandler", (_request, _reply, done) => void setTimeout(done, 20));
    app.register(plugin);
    host = await listenFastify(app);
    const headers = { ...authorized, "content-type": "application/json", "content-encoding": "br" };
    const body = new Uint8Array(brotliCompressSync(chatBody({ user: "inflated" })));
    expect((await call("/v1/chat/completions", { method: "POST", headers, body })).status).toBe(200);
    expect(test.upstream.lastRequest.json).toMatchObject({ user: "inflated" });
    const broken = await call("/v1/chat/completions", { method: "POST", headers, body: body.subarray(0, 20) });
    expect(await refusal(broken)).toEqual([400, "invalid_json"]);
  });

  it.each([{ ignoreTrailingSlash: true }, { ignoreDuplicateSlashes: true }, { caseSensitive: false }])(
    "works with %o",
    async (options) => {
      const { app, plugin } = await create(version === "Fastify 5" ? { routerOptions: options } : options);
      app.register(plugin, { prefix: "/ai/" });
      host = await listenFastify(app);
      const [slashes, models] = [
        "ignoreDuplicateSlashes" in options ? "//" : "/",
        "caseSensitive" in options ? "MODELS" : "models",
      ];
      for (const path of [`/ai${slashes}v1/${models}`, `/ai/v1/${models}/`, `/ai${slashes}v1/${models}/acme/small`]) {
        expect([path, (await call(path, { headers: authorized })).status]).toEqual([path, 200]);
      }
    },
  );

  it("works under a prefix with parameters, in a nested plugin, and with rewriteUrl", async () => {
    const { app, plugin } = await create({ rewriteUrl: (req) => (req.url ?? "").replace("/old/", "/tenant/acme/ai/") });
    app.register(
      async (scope) => {
        scope.register(plugin, { prefix: "/ai" });
      },
      { prefix: "/tenant/:tenant" },
    );
    host = await listenFastify(app);
    for (const path of ["/tenant/acme/ai/v1/models", "/tenant/a%20b/ai/v1/models/acme%2Fsmall", "/old/v1/models"]) {
      expect([path, (await call(path, { headers: authorized })).status]).toEqual([path, 200]);
    }
  });

  it.each([
    ["/api/ai", "/api/ai"],
    ["/api", "/api/api/ai"],
    ["", "/api/ai"],
  ])("takes basePath /api/ai and prefix %j together as %s", async (prefix, mount) => {
    const { app, plugin } = await create({}, { basePath: "/api/ai" });
    app.register(plugin, { prefix });
    host = await listenFastify(app);
    expect((await call(`${mount}/v1/models`, { headers: authorized })).status).toBe(200);
    expect((await call("/v1/models", { headers: authorized })).status).toBe(404);
  });

  it("leaves the app a path that it has got already", async () => {
    const { app, plugin } = await create();
    app.get("/healthz", (_request, reply) => reply.send("the app's"));
    app.register(plugin);
    host = await listenFastify(app);
    expect(await (await call("/healthz", {})).text()).toBe("the app's");
    expect((await call("/v1/models", { headers: authorized })).status).toBe(200);
  });

  it("answers inject(), whole and streamed", async () => {
    const { app, plugin } = await create();
    app.register(plugin, { prefix: "/ai" });
    const url = "/ai/v1/chat/completions";
    const headers = { ...authorized, "content-type": "application/json" };
    const whole = await app.inject({ method: "POST", url, headers, payload: chatBody() });
    expect([whole.statusCode, whole.json()]).toEqual([200, expect.objectContaining({ model: "acme/small" })]);
    const stream = await app.inject({ method: "POST", url, headers, payload: chatBody({ stream: true }) });
    expect([stream.statusCode, stream.payload]).toEqual([200, expect.stringMatching(/^data: .*data: \[DONE\]\n\n$/s)]);
    const refused = await app.inject({ method: "POST", url, payload: "{" });
    expect([refused.statusCode, refused.json()]).toEqual([
      401,
      { error: expect.objectContaining({ code: "invalid_api_key" }) },
    ]);
    expect((await app.inject({ method: "HEAD", url: "/ai/v1/models", headers: authorized })).statusCode).toBe(200);
    await app.close();
  });
});
