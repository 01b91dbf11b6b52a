import { expect, it } from "vitest";
import { readAll, upstreamCall } from "../../../src/testing/upstream-operations/operation-rules.js";
import { rawAnswer, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { describeTransports, useProviders } from "../../support/providers/provider-harness.js";

describeTransports("requests and answers", (harness) => {
  it.each([
    ["", "/v1/chat/completions"],
    ["/", "/v1/chat/completions"],
    ["///", "/v1/chat/completions"],
    ["?api-version=2024-10-21&x=a%20b", "/v1/chat/completions?api-version=2024-10-21&x=a%20b"],
    ["/deployments/gpt%204/?v=1", "/v1/deployments/gpt%204/chat/completions?v=1"],
  ])("appends the endpoint to a base URL with %j", async (suffix, path) => {
    const provider = harness.provider({ baseURL: harness.upstream.url + suffix });
    await readAll((await provider.call(upstreamCall())).body);
    expect(harness.upstream.lastRequest).toMatchObject({ method: "POST", url: path });
  });

  it("works with a base URL without path", async () => {
    await readAll((await harness.provider({ baseURL: harness.upstream.origin }).call(upstreamCall())).body);
    expect(harness.upstream.lastRequest.url).toBe("/chat/completions");
  });

  it.each([
    [false, "application/json"],
    [true, "text/event-stream"],
  ])("sends what an OpenAI server expects, and no compression (stream: %s)", async (stream, accept) => {
    await readAll((await harness.provider().call(upstreamCall({ stream }))).body);
    const { headers, body } = harness.upstream.lastRequest;
    expect(headers).toMatchObject({
      authorization: "Bearer sk-upstream",
      "content-type": "application/json",
      accept,
      "accept-encoding": "identity",
      "user-agent": "infergate",
      "content-length": String(body.length),
    });
    expect(headers["transfer-encoding"]).toBeUndefined();
  });

  it.each([undefined, ""])("sends no authorization without a key (%j)", async (apiKey) => {
    await readAll((await harness.provider({ apiKey }).call(upstreamCall())).body);
    expect(harness.upstream.lastRequest.headers.authorization).toBeUndefined();
  });

  it("asks a function for the key on every call", async () => {
    let count = 0;
    const keys = [() => "first", async () => "second", async () => undefined, () => ""];
    const provider = harness.provider({ apiKey: () => keys[count++]?.() });
    for (const authorization of ["Bearer first", "Bearer second", undefined, undefined]) {
      await readAll((await provider.call(upstreamCall())).body);
      expect(harness.upstream.lastRequest.headers.authorization).toBe(authorization);
    }
  });

  it("is unreachable without a usable key, and keeps the key to itself", async () => {
    for (const apiKey of [() => "sk-se\ncret", () => Promise.reject(new Error("vault is sealed"))]) {
      const error = await harness
        .provider({ apiKey })
        .call(upstreamCall())
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "UpstreamError", failure: "unreachable" });
      expect(String(error)).not.toContain("cret");
    }
    expect(harness.upstream.requests).toHaveLength(0);
  });

  it("is aborted while it waits for the key", async () => {
    const controller = new AbortController();
    const provider = harness.provider({ apiKey: () => new Promise(() => {}) });
    const calling = provider.call(upstreamCall({ signal: controller.signal }));
    controller.abort();
    await expect(calling).rejects.toMatchObject({ name: "UpstreamError", failure: "aborted" });
    const late = provider.call(upstreamCall({ signal: controller.signal }));
    await expect(late).rejects.toMatchObject({ name: "UpstreamError", failure: "aborted" });
  });

  it("sends further headers in place of its own", async () => {
    const headers = { Authorization: "Basic dXNlcjpwYXNz", "X-Organization": "acme", "User-Agent": "acme/1" };
    for (const apiKey of ["sk-unused", () => "sk-unused"]) {
      await readAll((await harness.provider({ headers, apiKey }).call(upstreamCall())).body);
      expect(harness.upstream.lastRequest.headers).toMatchObject({
        authorization: "Basic dXNlcjpwYXNz",
        "x-organization": "acme",
        "user-agent": "acme/1",
      });
      expect(JSON.stringify(harness.upstream.lastRequest.rawHeaders)).not.toContain("sk-unused");
    }
  });

  it.each([301, 302, 303, 307, 308])("does not follow a redirect (%i)", async (status) => {
    const target = await startFakeUpstream();
    harness.upstream.reply(wholeAnswer("moved", { status, headers: { location: `${target.url}/chat/completions` } }));
    const answer = await harness.provider().call(upstreamCall());
    expect(answer.status).toBe(status);
    await readAll(answer.body);
    expect(target.requests).toHaveLength(0);
    await target.close();
  });

  it("gives the headers in lower case, repeated ones joined", async () => {
    const head = "HTTP/1.1 200 OK\r\nX-Request-ID: up_1\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n__proto__: x\r\n";
    harness.upstream.reply(rawAnswer([`${head}Content-Length: 2\r\n\r\n{}`]));
    const { headers, body } = await harness.provider().call(upstreamCall());
    await readAll(body);
    expect(headers).toMatchObject({ "x-request-id": "up_1", "set-cookie": expect.stringMatching(/^(a=1, )?b=2$/) });
    expect(Object.keys(headers).every((name) => name === name.toLowerCase())).toBe(true);
    expect(Object.values(headers).every((value) => typeof value === "string")).toBe(true);
  });
});

const undici = useProviders("undici");

it("sends nothing that it does not have to, over undici", async () => {
  await readAll((await undici.provider().call(upstreamCall())).body);
  const names = undici.upstream.lastRequest.rawHeaders.filter((_text, index) => index % 2 === 0);
  expect(names.toSorted()).toEqual([
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
  ]);
});
