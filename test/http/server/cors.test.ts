import { describe, expect, it } from "vitest";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";

function preflight(): Request {
  return new Request("http://gateway.test/v1/chat/completions", {
    method: "OPTIONS",
    headers: { origin: "https://app.test", "access-control-request-headers": "authorization,x-stainless-os" },
  });
}

function fromPage(request: Request, origin: string): Request {
  request.headers.set("origin", origin);
  return request;
}

describe("cors", () => {
  it("is off by default", async () => {
    const test = await startTestGateway();
    const response = await test.gateway.handler(preflight());
    expect([response.status, response.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    await test.close();
  });

  it("of true lets every page in, on answers, errors and streams alike", async () => {
    const test = await startTestGateway({ cors: true });
    const allowed = await test.gateway.handler(preflight());
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "authorization,x-stainless-os",
      "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
      "access-control-max-age": "86400",
    });
    for (const request of [chatRequest(), chatRequest({ stream: true }), chatRequest({}, "sk-wrong")]) {
      const response = await test.gateway.handler(fromPage(request, "https://app.test"));
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(response.headers.get("access-control-expose-headers")).toContain("x-ratelimit-remaining-week");
      expect(response.headers.get("access-control-expose-headers")).toContain("x-ratelimit-remaining-prepaid");
      await response.text();
    }
    await test.close();
  });

  it("of some origins lets these in, and tells caches", async () => {
    const test = await startTestGateway({ cors: { origins: ["https://app.test"] } });
    const mine = await test.gateway.handler(fromPage(chatRequest(), "https://app.test"));
    expect([mine.headers.get("access-control-allow-origin"), mine.headers.get("vary")]).toEqual([
      "https://app.test",
      "Origin",
    ]);
    const other = await test.gateway.handler(fromPage(chatRequest(), "https://evil.test"));
    expect([other.headers.get("access-control-allow-origin"), other.headers.get("vary")]).toEqual([null, "Origin"]);
    await test.close();
  });
});
