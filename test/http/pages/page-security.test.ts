import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GatewayWarning } from "../../../src/events/warning.js";
import type { Mountable } from "../../../src/gateway/gateway.js";
import { type AccountPageOptions, createAccountPage, createOperatorPage } from "../../../src/pages.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
let warnings: GatewayWarning[];
beforeEach(async () => {
  warnings = [];
  test = await startTestGateway();
});
afterEach(() => test.close());

function accountPage(options: Partial<AccountPageOptions> = {}): Mountable {
  return createAccountPage({
    gateway: test.gateway,
    identify: () => ({ account: "acct_pro" }),
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
}

const origin = "http://app.test";
const same = { "sec-fetch-site": "same-origin" };

function get(page: Mountable, path: string, headers: Record<string, string> = same): Promise<Response> {
  return page.handler(new Request(origin + path, { headers: { host: "app.test", ...headers } }));
}

describe("options", () => {
  it("makes no page without `identify` or without a gateway, and says which option is misspelled", () => {
    expect(() => createAccountPage({ gateway: test.gateway } as never)).toThrow("identify: must be a function");
    expect(() => createOperatorPage({ identify: () => null } as never)).toThrow("gateway: must be the gateway");
    expect(() => createAccountPage(undefined as never)).toThrow(TypeError);
    expect(() => accountPage({ titel: "x" } as never)).toThrow("`titel` (did you mean `title`?)");
  });

  it.each([
    [{ signInUrl: "javascript:alert(1)" }, "signInUrl"],
    [{ signInUrl: "//evil.example" }, "signInUrl"],
    [{ logo: { src: "https://cdn.example/logo.svg" } }, "logo.src"],
    [{ logo: { src: 'x" onerror="alert(1)' } }, "logo.src"],
    [{ theme: { accent: "red;}body{display:none" } }, "theme.accent"],
    [{ theme: { font: "a;}*{color:red" } }, "theme.font"],
    [{ frameAncestors: ["https://a.example; script-src *"] }, "frameAncestors"],
    [{ origins: ["https://a.example/"] }, "origins"],
    [{ basePath: "account" }, "basePath"],
  ])("refuses %j", (options, name) => {
    expect(() => accountPage(options as never)).toThrow(name);
  });
});

describe("identity", () => {
  it.each([
    ["undefined", undefined],
    ["null", null],
    ["false", false],
  ])("%s is nobody: 401", async (_name, found) => {
    const page = accountPage({ identify: () => found as never });
    const response = await get(page, "/api/me");
    expect([response.status, await response.json()]).toMatchObject([401, { error: { code: "signed_out" } }]);
    const document = await get(page, "/");
    expect([document.status, await document.text()]).toMatchObject([401, expect.stringContaining("Sign in")]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["an empty text", ""],
    ["a number", 42],
    ["an account that is missing", { account: undefined }],
    ["the text of a missing account", { account: String(undefined) }],
    ["an empty account", { account: "" }],
    ["an account of an object", { account: `${{}}` }],
    ["an account that is too long", { account: "a".repeat(129) }],
    ["a role that there is not", { account: "acct_pro", role: "admin" }],
    ["a member without tags", { account: "acct_pro", role: "member" }],
  ])("%s is a bug of the host: 503 and a warning", async (_name, found) => {
    const page = accountPage({ identify: () => found as never });
    for (const path of ["/api/me", "/"]) expect((await get(page, path)).status).toBe(503);
    expect(warnings.map(({ code }) => code)).toEqual(["identify_failed", "identify_failed"]);
  });

  it("throws, or takes too long: 503 without a detail, and a warning", async () => {
    const secret = "postgres://user:secret@host";
    const failing = accountPage({ identify: () => Promise.reject(new Error(secret)) });
    const hanging = accountPage({ identify: () => new Promise(() => {}), identifyTimeoutMs: 1 });
    for (const page of [failing, hanging]) {
      const response = await get(page, "/api/me");
      expect(response.status).toBe(503);
      expect(await response.text()).not.toContain("secret");
    }
    expect(warnings.map(({ code }) => code)).toEqual(["identify_failed", "identify_failed"]);
    expect(JSON.stringify(warnings.map(({ message }) => message))).not.toContain("secret");
  });

  it("is asked for each request, and an API key is none", async () => {
    let asked = 0;
    const identify = () => {
      asked++;
      return undefined;
    };
    const page = accountPage({ identify });
    for (let round = 0; round < 3; round++) {
      expect((await get(page, "/api/me", { ...same, authorization: "Bearer sk-pro" })).status).toBe(401);
    }
    expect(asked).toBe(3);
  });

  it("leads to the sign-in of the options alone", async () => {
    const page = accountPage({ identify: () => null, signInUrl: "/login" });
    const response = await get(page, "/?next=https://evil.example");
    expect([response.status, response.headers.get("location")]).toEqual([302, "/login"]);
    expect((await get(page, "/api/me")).status).toBe(401);
  });
});

describe("headers", () => {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors";

  it.each(["/", "/api/me", "/api/nothing", "/assets/nothing.js", "/nothing"])(
    "protect every answer: %s",
    async (path) => {
      const { headers } = await get(accountPage(), path);
      expect(headers.get("content-security-policy")).toBe(`${policy} 'none'`);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.has("access-control-allow-origin")).toBe(false);
    },
  );

  it("let the frames of the options in", async () => {
    const { headers } = await get(accountPage({ frameAncestors: ["https://desk.example"] }), "/");
    expect(headers.get("content-security-policy")).toBe(`${policy} https://desk.example`);
    expect(headers.has("x-frame-options")).toBe(false);
  });

  it("give scripts the host's nonce", async () => {
    const text = await (await get(accountPage({ scriptNonce: () => 'abc"<' }), "/")).text();
    expect(text).toContain('<script type="module" src="./assets/');
    expect(text).toContain('nonce="abc&#34;&#60;"></script>');
  });

  it("come with no markup of the host's or the client's texts", async () => {
    const title = "</script><img src=x onerror=alert(1)>&";
    const page = accountPage({ title, basePath: "/a&b'c" });
    const text = await (await get(page, "/a&b'c")).text();
    expect(text).not.toContain("<img");
    expect(text).toContain('src="./a&#38;b&#39;c/assets/');
    const [, settings = ""] = /<script type="application\/json" id="settings">(.*)<\/script>/.exec(text) ?? [];
    expect(JSON.parse(settings)).toMatchObject({ title });
  });

  it("put a theme into a file of its own, and no style into the document", async () => {
    const page = accountPage({ theme: { accent: "#0a7d33", scheme: "dark", font: "Inter, sans-serif", radius: 4 } });
    const text = await (await get(page, "/")).text();
    const [, path = ""] = /href="\.(\/assets\/theme-\w+\.css)"/.exec(text) ?? [];
    const sheet = await (await get(page, path)).text();
    expect(sheet).toMatch(/^:root\{color-scheme:dark;--accent:light-dark\(#0a7d33,#0a7d33\);/);
    expect(text).not.toContain("style=");
  });
});

describe("changes", () => {
  const send = (page: Mountable, headers: Record<string, string>, method = "POST", path = "/api/keys") =>
    page.handler(
      new Request(origin + path, {
        method,
        headers: { host: "app.test", "content-type": "application/json", ...headers },
        body: "{}",
      }),
    );

  it.each([
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ "sec-fetch-site": "none" }, 403],
    [{ "sec-fetch-site": "cross-site", origin }, 403],
    [{ origin: "http://evil.test" }, 403],
    [{ origin: "null" }, 403],
    [{}, 403],
    [{ origin }, 400],
    [{ "sec-fetch-site": "same-origin" }, 400],
  ])("from %j: %i", async (headers, status) => {
    const response = await send(accountPage(), headers);
    expect([response.status, await response.json()]).toMatchObject([
      status,
      { error: { code: status === 403 ? "cross_site_request" : "invalid_value" } },
    ]);
    expect((await test.gateway.keys.list("acct_pro")).length).toBe(2);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"])(
    "as %s: 415",
    async (type) => {
      expect((await send(accountPage(), { ...same, "content-type": type })).status).toBe(415);
    },
  );

  it("go by the method alone, and by the order of checks: path, method, origin, type, identity, body", async () => {
    const nobody = accountPage({ identify: () => null });
    expect((await send(nobody, {}, "POST", "/api/nothing")).status).toBe(404);
    const wrong = await send(nobody, {}, "PUT");
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, POST"]);
    expect((await send(nobody, {})).status).toBe(403);
    expect((await send(nobody, { ...same, "content-type": "text/plain" })).status).toBe(415);
    expect((await send(nobody, same)).status).toBe(401);
    expect((await send(accountPage(), same)).status).toBe(400);
    const headers = { ...same, "x-http-method-override": "POST" };
    expect((await get(accountPage(), "/api/keys?name=x", headers)).status).toBe(400);
  });

  it("have bodies of 64 KB at most, of known members alone", async () => {
    const page = accountPage();
    const post = (body: string) =>
      page.handler(
        new Request(`${origin}/api/keys`, {
          method: "POST",
          headers: { "content-type": "application/json", ...same },
          body,
        }),
      );
    expect((await post(JSON.stringify({ name: "x".repeat(70_000) }))).status).toBe(413);
    for (const [body, param] of [
      ['{"name":"x","admin":true}', "admin"],
      ['{"name":"x","__proto__":{"a":1}}', "__proto__"],
      ['{"name":7}', "name"],
      ["[]", null],
    ] as const) {
      const response = await post(body);
      expect([body, response.status, await response.json()]).toMatchObject([body, 400, { error: { param } }]);
    }
    expect((await post("{")).status).toBe(400);
    expect((await test.gateway.keys.list("acct_pro")).length).toBe(2);
  });
});
