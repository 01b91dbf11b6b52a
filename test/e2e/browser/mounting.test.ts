import { request as forward } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Mountable } from "../../../src/gateway/gateway.js";
import { type AccountPageOptions, createAccountPage } from "../../../src/pages.js";
import { type Host, listen } from "../../support/adapters/host.js";
import { mount, type PageHost, pageHosts } from "../../support/pages/page-hosts.js";
import { describeInBrowser } from "./support/describe-in-browser.js";
import { type SampleGateway, startSampleGateway } from "./support/sample-gateway.js";

/** The default of helmet, a package that many apps of Express have. */
const helmets =
  "default-src 'self';base-uri 'self';font-src 'self' https: data:;form-action 'self';frame-ancestors 'self';" +
  "img-src 'self' data:;object-src 'none';script-src 'self';script-src-attr 'none';style-src 'self' https: 'unsafe-inline'";

describeInBrowser("a page in a host", (visits) => {
  let sample: SampleGateway;
  const open: Host[] = [];
  beforeAll(async () => {
    sample = await startSampleGateway();
    await sample.gateway.keys.create({ account: "acme", name: "Laptop" });
  });
  afterEach(() => Promise.all(open.splice(0).map((host) => host.close())));
  afterAll(() => sample?.close());

  const start = async (pageHost: PageHost, options: Partial<AccountPageOptions> = {}) => {
    const { gateway } = sample;
    const identify = () => ({ account: "acme", locale: "en" });
    const page: Mountable = createAccountPage({ gateway, basePath: pageHost.basePath, identify, ...options });
    const host = await pageHost.start(page);
    open.push(host);
    return host.origin ?? "";
  };
  const express = pageHosts["Express 5"] as PageHost;

  /** In front of an app: it takes a prefix off, and may add headers. */
  const startProxy = async (origin: string, prefix: string, headers: Record<string, string> = {}) => {
    const host = await listen((request, response) => {
      const path = request.url?.startsWith(prefix) ? request.url.slice(prefix.length) : "/nowhere";
      const upstream = forward(`${origin}${path}`, { method: request.method, headers: request.headers }, (answer) => {
        const names = Object.entries(headers).map(([name, value]) => [name, [value, answer.headers[name]].flat()]);
        response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...Object.fromEntries(names) });
        answer.pipe(response);
      });
      request.pipe(upstream);
    });
    open.push(host);
    return host.origin ?? "";
  };

  /** Shows what is left, makes a key and revokes it. */
  const use = async (page: Page) => {
    await page.getByRole("meter", { name: "This month" }).waitFor();
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Short-lived");
    await page.getByRole("button", { name: "Make key" }).click();
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("button", { name: "Revoke Short-lived" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };

  it.each(Object.entries(pageHosts))("is shown and used in %s, with and without a slash", async (_name, pageHost) => {
    const origin = await start(pageHost);
    for (const path of [mount, `${mount}/`]) await use(await visits.open(origin + path));
  });

  it("is shown and used behind a proxy that takes a prefix off", async () => {
    const proxy = await startProxy(await start(express), "/outer/prefix");
    await use(await visits.open(`${proxy}/outer/prefix${mount}`));
  });

  it("is shown and used where the host's own policy counts besides", async () => {
    const proxy = await startProxy(await start(express), "", { "content-security-policy": helmets });
    await use(await visits.open(proxy + mount));
  });

  it("is shown and used where the host's policy trusts nothing but nonces", async () => {
    const policy = "script-src 'nonce-abc123' 'strict-dynamic'; base-uri 'none'";
    const origin = await start(express, { scriptNonce: () => "abc123" });
    const proxy = await startProxy(origin, "", { "content-security-policy": policy });
    await use(await visits.open(proxy + mount));
  });

  it("is shown in a frame of an origin that may, and of no other", async () => {
    const framing = async (source: string) => {
      const host = await listen((_request, response) => {
        response.setHeader("content-type", "text/html");
        response.end(`<link rel="icon" href="data:,"><iframe src="${source}" title="page"></iframe>`);
      });
      open.push(host);
      return host.origin ?? "";
    };
    const refused = await visits.open(await framing((await start(express)) + mount), {
      allow: [/frame-ancestors|Refused to display/],
    });
    await refused.waitForFunction(() => document.querySelector("iframe")?.contentWindow?.length !== undefined);
    expect(await refused.frameLocator("iframe").getByRole("meter").count()).toBe(0);
    // The frame's address is known once the app is, so that any is let in.
    const allowed = await start(express, { frameAncestors: ["http://app.test"] });
    expect((await fetch(allowed + mount)).headers.get("content-security-policy")).toContain(
      "frame-ancestors http://app.test",
    );
  });

  it("has the host's name, logo, colours and words", async () => {
    const logo = {
      src: `data:image/svg+xml;base64,${btoa("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'/>")}`,
      href: "/home",
    };
    const theme = { scheme: "dark", accent: "#0a7d33", accentDark: "#5fd38d", radius: 3 } as const;
    const texts = { overview: "Überblick", window_month: "Dieser Monat", meterLeft: "noch {left}" };
    const origin = await start(express, {
      title: "Nordwind",
      logo,
      theme,
      texts,
      identify: () => ({ account: "acme", locale: "de-AT" }),
    });
    const page = await visits.open(origin + mount);
    await page.getByRole("heading", { level: 1, name: "Überblick" }).waitFor();
    await page.getByRole("meter", { name: "Dieser Monat" }).waitFor();
    expect(await page.getByText("noch 60").count()).toBe(1);
    expect(await page.title()).toBe("Überblick · Nordwind");
    expect(await page.getByRole("link", { name: "Nordwind" }).getAttribute("href")).toBe("/home");
    const look = await page.evaluate(() => {
      const { colorScheme, backgroundColor } = getComputedStyle(document.documentElement);
      const used = getComputedStyle(document.querySelector(".used") as Element).fill;
      return { colorScheme, backgroundColor, used, lang: document.documentElement.lang };
    });
    expect(look).toMatchObject({ colorScheme: "dark", used: "rgb(95, 211, 141)", lang: "de-AT" });
  });

  it("leads to the host's sign-in", async () => {
    const login = await listen((_request, response) => response.end("<link rel=icon href=data:,>Please sign in."));
    open.push(login);
    const origin = await start(express, { identify: () => null, signInUrl: `${login.origin}/login` });
    const page = await visits.open(origin + mount);
    expect(page.url()).toBe(`${login.origin}/login`);
  });
});
