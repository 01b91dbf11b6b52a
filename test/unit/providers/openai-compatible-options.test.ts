import { describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";

const baseURL = "https://api.example.com/v1";

/** What the construction complains about; fails when it does not. */
function complaint(options: unknown): string {
  try {
    // What a caller without types could pass.
    openAICompatible(options as Parameters<typeof openAICompatible>[0]);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return String(error);
  }
  throw new Error("accepted");
}

describe("the options of openAICompatible", () => {
  it.each([
    { baseURL },
    { baseURL: "http://[::1]:8000/v1/" },
    { baseURL, apiKey: undefined },
    { baseURL, apiKey: "" },
    { baseURL, apiKey: "sk-1", headers: { "x-a": "", "x-b": "two words" }, maxConnections: 1, timeoutMs: 1 },
    {
      baseURL,
      apiKey: undefined,
      headers: undefined,
      fetch: undefined,
      timeoutMs: undefined,
      maxConnections: undefined,
    },
  ])("accepts %j", (options) => {
    expect(() => openAICompatible(options)).not.toThrow();
  });

  it.each([
    ["baseURL", {}],
    ["baseURL", { baseURL: undefined }],
    ["baseURL", { baseURL: "api.example.com/v1" }],
    ["baseURL", { baseURL: "" }],
    ["http://", { baseURL: "ftp://example.com" }],
    ["apiKey", { baseURL: "https://user:hunter2@example.com/v1" }],
    ["before the endpoint", { baseURL: "https://example.com/v1/chat/completions" }],
    ["before the endpoint", { baseURL: "https://example.com/v1/completions/?a=b" }],
    ["maxConnections", { baseURL, fetch: globalThis.fetch, maxConnections: 5 }],
    ["hash", { baseURL: "https://example.com/v1#x" }],
    ["hash", { baseURL: "https://example.com/v1#" }],
    ["apiKey", { baseURL, apiKey: "hunter2\n" }],
    ["apiKey", { baseURL, apiKey: " hunter2" }],
    ["apiKey", { baseURL, apiKey: "hünter2" }],
    ["apiKey", { baseURL, apiKey: 5 }],
    ["apiKey", { baseURL, apiKey: null }],
    ["headers.Host", { baseURL, headers: { Host: "hunter2" } }],
    ["Content-Length", { baseURL, headers: { "Content-Length": "5" } }],
    ["transfer-encoding", { baseURL, headers: { "transfer-encoding": "chunked" } }],
    ["connection", { baseURL, headers: { connection: "close" } }],
    ["accept-encoding", { baseURL, headers: { "accept-encoding": "gzip" } }],
    ["x-key", { baseURL, headers: { "x-key": "hunter2\r\nx: y" } }],
    ["x-key", { baseURL, headers: { "x-key": "hünter2" } }],
    ["x-key", { baseURL, headers: { "x-key": undefined } }],
    ["x key", { baseURL, headers: { "x key": "hunter2" } }],
    ["X-KEY", { baseURL, headers: { "x-key": "1", "X-KEY": "2" } }],
    ["fetch", { baseURL, fetch: "fetch" }],
    ["timeoutMs", { baseURL, timeoutMs: 0 }],
    ["timeoutMs", { baseURL, timeoutMs: "100" }],
    ["connectTimeoutMs", { baseURL, connectTimeoutMs: -1 }],
    ["firstByteTimeoutMs", { baseURL, firstByteTimeoutMs: 1.5 }],
    ["idleTimeoutMs", { baseURL, idleTimeoutMs: Number.POSITIVE_INFINITY }],
    ["idleTimeoutMs", { baseURL, idleTimeoutMs: 2 ** 31 }],
    ["maxConnections", { baseURL, maxConnections: 0 }],
    ["`apikey` (did you mean `apiKey`?)", { baseURL, apikey: "hunter2" }],
    ["`baseUrl` (did you mean `baseURL`?)", { baseUrl: baseURL }],
    ["`capname` (did you mean `capName`?)", { baseURL, dialect: { capname: "max_tokens" } }],
    ["dialect.capName", { baseURL, dialect: { capName: "max" } }],
    ["dialect.dropped", { baseURL, dialect: { dropped: ["temperature", "model"] } }],
    ["dialect.droppedFromMessages", { baseURL, dialect: { droppedFromMessages: ["content"] } }],
    ["dialect.renamed", { baseURL, dialect: { renamed: { seed: "stream" } } }],
    ["dialect.keyHeader", { baseURL, dialect: { keyHeader: "Api-Key" } }],
    ["dialect.readError", { baseURL, dialect: { readError: "no" } }],
    ["capname", { baseURL, dialect: { capname: "max_tokens" } }],
    ["object", { baseURL, dialect: null }],
    ["object", undefined],
  ])("names what is wrong: %s in %j", (name, options) => {
    const message = complaint(options);
    expect(message).toContain("openAICompatible");
    expect(message).toContain(name);
    expect(message).not.toContain("nter2");
  });
});
