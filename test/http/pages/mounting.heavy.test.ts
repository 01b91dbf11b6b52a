import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { HostRequest } from "../../../src/http/host-request.js";
import { createAccountPage, createOperatorPage } from "../../../src/pages.js";
import type { Host } from "../../support/adapters/host.js";
import { mount, type PageHost, pageHosts } from "../../support/pages/page-hosts.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
let host: Host | undefined;
afterEach(async () => {
  await host?.close();
  host = undefined;
  await test.close();
});

const seen: HostRequest[] = [];

async function start({ basePath, start: startHost }: PageHost): Promise<string> {
  test = await startTestGateway();
  seen.length = 0;
  const identify = (request: HostRequest) => {
    seen.push(request);
    return request.header("cookie") === "user=ada" && { account: "acct_pro" };
  };
  host = await startHost(createAccountPage({ gateway: test.gateway, identify, basePath }));
  return host.origin ?? "";
}

const headers = { cookie: "user=ada", "sec-fetch-site": "same-origin" };

/** What a browser loads of a document, by the addresses that it makes of what is in it. */
function filesOf(text: string, at: string): string[] {
  return [...text.matchAll(/(?:href|src)="(\.[^"]*\/assets\/[^"]+)"/g)].map(([, path = ""]) => new URL(path, at).href);
}

describe.each(Object.entries(pageHosts))("a page in %s", (_name, pageHost) => {
  it.each([mount, `${mount}/`, `${mount}?view=keys`])(
    "comes with all its files at %s, without a redirect",
    async (path) => {
      const at = (await start(pageHost)) + path;
      const response = await fetch(at, { headers, redirect: "manual" });
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      const files = filesOf(await response.text(), at);
      expect(files.length).toBeGreaterThanOrEqual(2);
      for (const file of files) {
        const loaded = await fetch(file);
        expect([file, loaded.status]).toEqual([file, 200]);
        expect(loaded.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
        expect((await loaded.text()).length).toBeGreaterThan(50);
      }
      const script = files.find((file) => /\/account-\w+\.js$/.test(file)) ?? "";
      const me = await fetch(new URL("../api/me", script), { headers });
      expect([me.status, await me.json()]).toMatchObject([200, { account: "acct_pro", plan: "pro" }]);
    },
  );

  it("is found by a browser behind a proxy that takes a prefix off", async () => {
    const origin = await start(pageHost);
    const text = await (await fetch(origin + mount, { headers })).text();
    // The browser is at another path that ends alike.
    const [file = ""] = filesOf(text, `https://app.example.com/outer/prefix${mount}`);
    expect(new URL(file).pathname).toMatch(/^\/outer\/prefix\/tools\/account\/assets\//);
  });

  it("answers HEAD as GET, without a body", async () => {
    const origin = await start(pageHost);
    const response = await fetch(origin + mount, { method: "HEAD", headers });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  it("gives the host's own request to `identify`, and 404 for paths that are nobody's", async () => {
    const origin = await start(pageHost);
    await fetch(`${origin}${mount}/api/me`, { headers });
    expect(seen[0]?.raw).toBeTypeOf("object");
    expect(seen[0]?.headers.get("cookie")).toBe("user=ada");
    expect(new URL(seen[0]?.url ?? "", origin).pathname).toBe(`${mount}/api/me`);
    for (const path of [
      "/assets/account-00000000.js",
      "/assets/../index.html",
      "/admin",
      "/api",
      "/api/accounts",
      "/x/y",
    ]) {
      const response = await fetch(`${origin}${mount}${path}`, { headers });
      expect([path, response.status]).toEqual([path, 404]);
      await response.body?.cancel();
    }
  });

  it("reads the body of a change, and refuses what is no JSON", async () => {
    const origin = await start(pageHost);
    const post = (type: string) =>
      fetch(`${origin}${mount}/api/me`, { method: "POST", headers: { ...headers, "content-type": type }, body: "{}" });
    // There is no such method, whatever the type: the parsers of the host's have no say.
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "nonsense"]) {
      const response = await post(type);
      expect([type, response.status, await response.json()]).toMatchObject([
        type,
        405,
        { error: { code: "method_not_allowed" } },
      ]);
    }
  });
});

it("compresses files for who takes it, and keeps their names until they change", async () => {
  const origin = await start(pageHosts["node:http"] as PageHost);
  const text = await (await fetch(origin + mount, { headers })).text();
  const [file = ""] = filesOf(text, origin + mount).filter((path) => path.endsWith(".js"));
  const plain = await fetch(file, { headers: { "accept-encoding": "identity" } });
  const { request } = await import("node:http");
  const sent = await new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve, reject) => {
    request(file, { headers: { "accept-encoding": "br, gzip" } }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () =>
        resolve({ encoding: response.headers["content-encoding"], bytes: Buffer.concat(pieces) }),
      );
    })
      .on("error", reject)
      .end();
  });
  expect([plain.headers.get("content-encoding"), sent.encoding]).toEqual([null, "gzip"]);
  expect(gunzipSync(sent.bytes).toString()).toBe(await plain.text());
  const again = await fetch(file, { headers: { "if-none-match": plain.headers.get("etag") ?? "" } });
  expect(again.status).toBe(304);
});

it("leaves it to hosts of web responses to compress: some take the header off", async () => {
  const origin = await start(pageHosts["route handlers"] as PageHost);
  const text = await (await fetch(origin + mount, { headers })).text();
  const [file = ""] = filesOf(text, origin + mount).filter((path) => path.endsWith(".js"));
  const { headers: answered } = await fetch(file, { headers: { "accept-encoding": "gzip" } });
  expect(answered.get("content-encoding")).toBe(null);
});

it("is mounted twice in one app, each page with its own API and readers", async () => {
  test = await startTestGateway();
  const { default: express } = await import("express");
  const { toExpressHandler } = await import("../../../src/express.js");
  const { listen } = await import("../../support/adapters/host.js");
  const app = express();
  const account = createAccountPage({ gateway: test.gateway, identify: () => ({ account: "acct_pro" }) });
  const operator = createOperatorPage({
    gateway: test.gateway,
    identify: (request) => request.header("cookie") === "admin=1" && { operator: "grace" },
  });
  app.use("/account", toExpressHandler(account));
  app.use("/admin", toExpressHandler(operator));
  host = await listen(app);
  const get = async (path: string, cookie = "user=ada") => {
    const response = await fetch(`${host?.origin}${path}`, { headers: { ...headers, cookie } });
    await response.body?.cancel();
    return response.status;
  };
  expect(await get("/account/api/me")).toBe(200);
  expect(await get("/account/api/health")).toBe(404);
  expect(await get("/admin/api/health")).toBe(401);
  expect(await get("/admin/")).toBe(401);
  expect(await get("/admin/api/health", "admin=1")).toBe(200);
  expect(await get("/admin/api/me", "admin=1")).toBe(404);
});
