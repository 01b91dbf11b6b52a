import { describe, expect, it } from "vitest";
import { anthropicAuthorization } from "../../src/anthropic/credential.js";
import { forwardedHeaders } from "../../src/anthropic/forwarded-headers.js";

describe("the key of a client of Messages", () => {
  const key = (headers: Record<string, string>) => anthropicAuthorization((name) => headers[name]);

  it("is taken from either header", () => {
    expect(key({ "x-api-key": " sk-1 " })).toBe("Bearer sk-1");
    expect(key({ authorization: "Bearer sk-1" })).toBe("Bearer sk-1");
    expect(key({ authorization: "Bearer sk-1", "x-api-key": "sk-1" })).toBe("Bearer sk-1");
    expect(key({ authorization: "", "x-api-key": "sk-1" })).toBe("Bearer sk-1");
    expect(key({})).toBeUndefined();
  });

  it("must be one", () => {
    expect(() => key({ authorization: "Bearer sk-1", "x-api-key": "sk-2" })).toThrow(
      expect.objectContaining({ status: 401, code: "invalid_api_key" }),
    );
  });
});

describe("the headers that go on to the upstream", () => {
  const sent = (headers: Record<string, string>, allowed?: readonly string[]) =>
    forwardedHeaders((name) => headers[name], allowed);

  it("are the version and the betas, as they came", () => {
    const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "claude-code-20250219,  effort-2025-11-24" };
    expect(sent({ ...headers, authorization: "Bearer x", "x-app": "cli" })).toEqual(headers);
    expect(sent({})).toEqual({ "anthropic-version": "2023-06-01" });
  });

  it("are those betas alone that the server knows", () => {
    expect(sent({ "anthropic-beta": "a-1, b-2,c-3" }, ["c-3", "a-1"])).toMatchObject({ "anthropic-beta": "a-1,c-3" });
    expect(sent({ "anthropic-beta": "b-2" }, [])).not.toHaveProperty("anthropic-beta");
  });

  it("are none that are no words", () => {
    expect(sent({ "anthropic-version": "1\r\nx: y", "anthropic-beta": "é" })).toEqual({
      "anthropic-version": "2023-06-01",
    });
  });
});
