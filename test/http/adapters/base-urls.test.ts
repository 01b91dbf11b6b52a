import { afterEach, describe, expect, it } from "vitest";
import { toExpressHandler } from "../../../src/express.js";
import { toFastifyPlugin } from "../../../src/fastify.js";
import { tellsOfMisplaced } from "../../../src/server/unserved-path.js";
import { type ExpressVersion, expressVersions } from "../../support/adapters/express-adapter.js";
import { type FastifyVersion, fastifyVersions, listenFastify } from "../../support/adapters/fastify-adapter.js";
import { type Host, listen } from "../../support/adapters/host.js";
import { startTestGateway } from "../../support/test-gateway.js";
import { authorized } from "./client.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startGateway(keyPrefix?: string) {
  const { gateway, close } = await startTestGateway(keyPrefix === undefined ? {} : { keyPrefix });
  closers.push(close);
  return gateway;
}

function opened(host: Host): Host {
  closers.push(host.close);
  return host;
}

const textOf = async (host: Host, path: string, headers: Record<string, string>, method = "POST") =>
  (await host.fetch(path, { method, headers })).text();
const session = { authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x" };

describe.each(Object.keys(fastifyVersions) as FastifyVersion[])(
  "in %s, an app with the gateway below its own prefix",
  (version) => {
    it("keeps its routes of the same names, whatever is registered first", async () => {
      const gateway = await startGateway();
      const app = fastifyVersions[version]({ forceCloseConnections: true });
      app.post("/api/embeddings", async () => "own embeddings");
      app.register(toFastifyPlugin(gateway), { prefix: "/api" });
      app.register(async (scope) => void scope.post("/api/messages", async () => "own messages"));
      app.register(async (scope) => void scope.post("/api/:collection", async () => "own collection"));
      app.register(async (scope) => void scope.all("/api/*", async () => "own rest"));
      const host = opened(await listenFastify(app));
      expect(await textOf(host, "/api/messages", session)).toBe("own messages");
      expect(await textOf(host, "/api/responses", session)).toBe("own collection");
      expect(await textOf(host, "/api/chat/completions", session)).toBe("own rest");
      expect(await textOf(host, "/api/models", session, "GET")).toBe("own rest");
      // One that was there before is the app's for everyone.
      expect(await textOf(host, "/api/embeddings", authorized)).toBe("own embeddings");
      expect(await textOf(host, "/api/responses", authorized)).toContain('must end in \\"/api/v1\\"');
      expect(await textOf(host, "/api/v1/v1/responses", session)).toContain("belongs to /api/v1/responses");
    });

    it("may have two gateways, each with keys of its own", async () => {
      const [one, two] = [await startGateway("one-"), await startGateway("two-")];
      const app = fastifyVersions[version]({ forceCloseConnections: true });
      app.register(toFastifyPlugin(one), { prefix: "/one" });
      app.register(toFastifyPlugin(two), { prefix: "/two" });
      app.setNotFoundHandler((_request, reply) => reply.code(404).send("not found"));
      const host = opened(await listenFastify(app));
      const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
      expect(await textOf(host, "/one/responses", bearer("one-key"))).toContain('\\"/one/v1\\"');
      expect(await textOf(host, "/two/responses", bearer("two-key"))).toContain('\\"/two/v1\\"');
      expect(await textOf(host, "/one/responses", bearer("two-key"))).toBe("not found");
    });
  },
);

describe.each(Object.keys(expressVersions) as ExpressVersion[])(
  "in %s, an app with the gateway below its own prefix",
  (version) => {
    it("keeps its routes of the same names, before and after it", async () => {
      const gateway = await startGateway();
      const app = expressVersions[version]();
      app.post("/api/embeddings", (_req, res) => void res.send("own embeddings"));
      app.use("/api", toExpressHandler(gateway));
      app.post("/api/messages", (_req, res) => void res.send("own messages"));
      const host = opened(await listen(app));
      expect(await textOf(host, "/api/messages", session)).toBe("own messages");
      expect(await textOf(host, "/api/embeddings", authorized)).toBe("own embeddings");
      expect(await textOf(host, "/api/responses", authorized)).toContain('must end in \\"/api/v1\\"');
    });
  },
);

describe("a request for a path without /v1", () => {
  const place = { isBelowPrefix: true, keyPrefix: "acme-" };
  it.each([
    ["a managed key", { authorization: "Bearer acme-1" }, true],
    ["a key of OpenAI's form", { authorization: "bearer  sk-1" }, true],
    ["a key as Anthropic's clients send it", { "x-api-key": "sk-1" }, true],
    ["the version of Anthropic's API", { "anthropic-version": "2023-06-01" }, true],
    ["a token of the app's", session, false],
    ["another scheme", { authorization: "Basic c2stMQ==" }, false],
    ["a key of the app's", { "x-api-key": "app-1" }, false],
    ["two keys", { "x-api-key": ["sk-1", "sk-2"] }, false],
    ["nothing", {}, false],
  ])("with %s", (_, headers: Record<string, string | string[]>, isTold) => {
    expect(tellsOfMisplaced("/messages", { method: "POST", headers }, place)).toBe(isTold);
    expect(tellsOfMisplaced("/messages", { method: "GET", headers }, place)).toBe(false);
    expect(tellsOfMisplaced("/messages", { method: "POST", headers }, { ...place, isBelowPrefix: false })).toBe(false);
    expect(tellsOfMisplaced("/message", { method: "POST", headers }, place)).toBe(false);
    expect(tellsOfMisplaced("/v1/messages", { method: "POST", headers }, place)).toBe(false);
    expect(tellsOfMisplaced("/v1/v1/messages", { method: "POST", headers }, place)).toBe(true);
  });
});
