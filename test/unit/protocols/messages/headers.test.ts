import { describe, expect, it } from "vitest";
import { anthropicKey } from "../../../../src/protocols/messages/anthropic-protocol.js";
import { forwardedHeaders } from "../../../../src/protocols/messages/forwarded-headers.js";

describe("the key of a client of Messages", () => {
  const key = (headers: Record<string, string>) => anthropicKey((name) => headers[name]);

  it("is taken from either header", () => {
    expect(key({ "x-api-key": " sk-1 " })).toBe("sk-1");
    expect(key({ authorization: "bearer  sk-1 " })).toBe("sk-1");
    expect(key({ authorization: "Bearer sk-1", "x-api-key": "sk-1" })).toBe("sk-1");
    expect(key({ authorization: "", "x-api-key": "sk-1" })).toBe("sk-1");
  });

  it("must be one", () => {
    expect(() => key({ authorization: "Bearer sk-1", "x-api-key": "sk-2" })).toThrow(
      expect.objectContaining({ status: 401, code: "invalid_api_key" }),
    );
  });

  it.each([
    [{}, "x-api-key: YOUR_KEY, or Authorization: Bearer YOUR_KEY"],
    [{ "x-api-key": "sk-1, sk-2" }, "The x-api-key header"],
    [{ authorization: "Bearer sk-1, Bearer sk-2" }, "The Authorization header"],
    [{ authorization: "Basic sk-1" }, "The Authorization header"],
  ])("is asked for in the words of the header that it came in: %j", (headers, words) => {
    const error = expect.objectContaining({ status: 401, message: expect.stringContaining(words) });
    expect(() => key(headers as Record<string, string>)).toThrow(error);
  });
});

describe("the headers that go on to the upstream", () => {
  const sent = (headers: Record<string, string>) => forwardedHeaders((name) => headers[name]);

  it("are the version and the betas, as they came", () => {
    const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "claude-code-20250219,  effort-2025-11-24" };
    expect(sent({ ...headers, authorization: "Bearer x", "x-app": "cli" })).toEqual(headers);
    expect(sent({})).toEqual({ "anthropic-version": "2023-06-01" });
  });

  it("are none that are no words", () => {
    expect(sent({ "anthropic-version": "1\r\nx: y", "anthropic-beta": "é" })).toEqual({
      "anthropic-version": "2023-06-01",
    });
  });
});
