import fc from "fast-check";
import { expect, it } from "vitest";
import { requireSameOrigin } from "../../../src/http/origin.js";

function isAllowed(method: string, headers: Record<string, string>, origins?: readonly string[]): boolean {
  try {
    requireSameOrigin({ method, header: (name) => headers[name] }, origins);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ status: 403, code: "cross_site_request" });
    return false;
  }
}

const unsafe = fc.constantFrom("POST", "DELETE", "PUT", "PATCH");
const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,10}[a-z0-9])?$/);
const host = fc.tuple(label, fc.constantFrom("", ".example.com", ".test", ".localhost")).map((parts) => parts.join(""));
const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
const scheme = fc.constantFrom("http", "https");
const withPort = (name: string, at: number | undefined) => (at === undefined ? name : `${name}:${at}`);

it("lets an origin in that a browser writes for the host that it calls", () => {
  fc.assert(
    fc.property(unsafe, scheme, host, port, (method, protocol, name, at) => {
      const own = `${protocol}://${withPort(name, at)}`;
      // A name of digits alone is an address to browsers.
      fc.pre(URL.canParse(own) && new URL(own).hostname === name);
      const { origin } = new URL(own);
      expect(isAllowed(method, { host: withPort(name, at), origin })).toBe(true);
      expect(isAllowed(method, { host: withPort(name.toUpperCase(), at), origin })).toBe(true);
    }),
  );
});

it("lets no other origin in, however alike", () => {
  const change = fc.constantFrom(
    (name: string) => `api.${name}`,
    (name: string) => `${name}.evil.test`,
    (name: string) => `${name}x`,
    (name: string) => name.slice(1),
    (name: string) => `${name}:4321`,
    (name: string) => `user@${name}`,
    (name: string) => `${name}/`,
    (name: string) => `${name}.`,
    (name: string) => ` ${name}`,
    (name: string) => `evil.test, ${name}`,
  );
  fc.assert(
    fc.property(unsafe, scheme, host, change, (method, protocol, name, changed) => {
      expect(isAllowed(method, { host: name, origin: `${protocol}://${changed(name)}` })).toBe(false);
      expect(isAllowed(method, { host: changed(name), origin: `${protocol}://${name}` })).toBe(false);
    }),
  );
});

it("lets nothing in by any two texts, unless the one is the origin of the other", () => {
  fc.assert(
    fc.property(unsafe, fc.string(), fc.string(), (method, one, other) => {
      const allowed = isAllowed(method, { host: one, origin: other });
      expect(allowed).toBe(allowed && other.endsWith(`//${one.toLowerCase()}`));
    }),
  );
});

it("takes no value of Sec-Fetch-Site but same-origin for a request that changes something", () => {
  fc.assert(
    fc.property(unsafe, fc.string(), (method, site) => {
      fc.pre(site !== "same-origin");
      const own = { host: "app.test", origin: "https://app.test" };
      expect(isAllowed(method, { ...own, "sec-fetch-site": site })).toBe(false);
      expect(isAllowed(method, { ...own, "sec-fetch-site": site }, ["https://app.test"])).toBe(false);
    }),
  );
});

it("compares with the given origins alone, scheme and port included", () => {
  const origins = ["https://app.test", "https://app.test:8443"];
  const headers = { host: "internal:3000" };
  const allowed = [
    "https://app.test",
    "https://app.test:8443",
    "http://app.test",
    "https://internal:3000",
    "null",
  ].filter((origin) => isAllowed("POST", { ...headers, origin }, origins));
  expect(allowed).toEqual(origins);
  expect(isAllowed("POST", headers, origins)).toBe(false);
  expect(isAllowed("GET", headers, origins)).toBe(true);
});

it("reads an IPv6 address as a host", () => {
  expect(isAllowed("POST", { host: "[::1]:3000", origin: "http://[::1]:3000" })).toBe(true);
  expect(isAllowed("POST", { host: "[0:0::1]:3000", origin: "http://[::1]:3000" })).toBe(true);
  expect(isAllowed("POST", { host: "[::2]:3000", origin: "http://[::1]:3000" })).toBe(false);
});

it("asks reading requests only not to be of another origin", () => {
  for (const method of ["GET", "HEAD"]) {
    expect(isAllowed(method, {})).toBe(true);
    expect(isAllowed(method, { host: "app.test", origin: "https://app.test" })).toBe(true);
    expect(isAllowed(method, { host: "app.test", origin: "https://evil.test" })).toBe(false);
    const sites = ["same-origin", "none", "same-site", "cross-site", "same-origin, cross-site"];
    const verdicts = sites.map((site) => isAllowed(method, { "sec-fetch-site": site }));
    expect(verdicts).toEqual([true, true, false, false, false]);
  }
});
