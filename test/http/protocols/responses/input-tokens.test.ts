import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { chatChunks, eventStream } from "../../../../src/testing.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

async function start() {
  const started = await startTestGateway();
  test = started;
  const fetch = (url: string | URL | Request, init?: RequestInit) => started.gateway.handler(new Request(url, init));
  const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: "http://gateway.test/v1", maxRetries: 0, fetch });
  return { ...started, client: clientOf("sk-pro"), other: clientOf("sk-basic"), fetch };
}

const model = "acme/small";
const tools = [{ type: "function" as const, name: "f", parameters: { type: "object" }, strict: false }];

describe("POST /v1/responses/input_tokens", () => {
  it("counts what a call would hold, free of charge", async () => {
    const { client, events, upstream } = await start();
    const input = "Tell me all that you know of the tides.";
    const counted = await client.responses.inputTokens.count({ model, input });
    expect(counted).toEqual({ object: "response.input_tokens", input_tokens: expect.any(Number) });
    const more = await client.responses.inputTokens.count({ model, input, instructions: "Be brief.", tools });
    expect(more.input_tokens).toBeGreaterThan(counted.input_tokens);
    expect(events.at(-1)).toMatchObject({ endpoint: "input_tokens", model, status: 200, chargedMicro: 0 });
    expect(upstream.requests).toHaveLength(0);
  });

  it("counts what the request goes on from, of its own account", async () => {
    const { client, other, upstream } = await start();
    upstream.reply(eventStream(chatChunks("One ".repeat(500))));
    const { id } = await client.responses.stream({ model, input: "Hi" }).finalResponse();
    const alone = await client.responses.inputTokens.count({ model, input: "More" });
    const whole = await client.responses.inputTokens.count({ model, input: "More", previous_response_id: id });
    expect(whole.input_tokens).toBeGreaterThan(alone.input_tokens + 400);
    const foreign = other.responses.inputTokens.count({ model, input: "More", previous_response_id: id });
    await expect(foreign).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
  });

  it("refuses what a call would be refused for", async () => {
    const { client, other } = await start();
    const { count } = client.responses.inputTokens;
    const say = (members: object) => client.responses.inputTokens.count({ model, input: "Hi", ...members });
    expect(count).toBeDefined();
    await expect(say({ model: "acme/none" })).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    await expect(say({ input: 5 })).rejects.toMatchObject({ status: 400, code: "invalid_type" });
    await expect(say({ model: "acme/embed" })).rejects.toMatchObject({ status: 400 });
    const hidden = other.responses.inputTokens.count({ model: "acme/large", input: "Hi" });
    await expect(hidden).rejects.toMatchObject({ status: 403 });
  });
});

describe("paths of OpenAI's that are not served", () => {
  it.each([
    ["POST", "/v1/responses/compact", /summary/],
    ["POST", "/v1/responses/compact/", /summary/],
    ["POST", "/v1/responses/resp_1/cancel", /close the connection/],
    ["POST", "/v1/batches", /no batches/],
    ["POST", "/v1/files", /no files/],
    ["POST", "/v1/realtime/client_secrets", /no realtime/],
    ["POST", "/v1/images/variations", /variations/i],
    ["POST", "/v1/threads", /v1\/responses/],
  ])("%s %s is a 404 that says why", async (method, path, why) => {
    const { fetch } = await start();
    const headers = { authorization: "Bearer sk-pro", "content-type": "application/json" };
    const response = await fetch(`http://gateway.test${path}`, { method, headers, body: "{}" });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: "unknown_url", message: expect.stringMatching(why) },
    });
  });
});

describe("GET /v1/responses/{id}?stream=true", () => {
  it("gives the events of a kept response again, from where the client says", async () => {
    const { client, upstream } = await start();
    upstream.reply(eventStream(chatChunks("Hello world")));
    const kept = await client.responses.stream({ model, input: "Hi" }).finalResponse();
    const all = [];
    for await (const event of await client.responses.retrieve(kept.id, { stream: true })) all.push(event);
    expect(all[0]?.type).toBe("response.created");
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, index) => index));
    const last = all.at(-1);
    expect(last).toMatchObject({
      type: "response.completed",
      response: { id: kept.id, output: [{ type: "message", content: [{ type: "output_text", text: "Hello world" }] }] },
    });
    const rest = [];
    for await (const event of await client.responses.retrieve(kept.id, { stream: true, starting_after: 3 }))
      rest.push(event);
    expect(rest).toEqual(all.slice(4));
    expect((await client.responses.stream({ response_id: kept.id }).finalResponse()).output_text).toBe("Hello world");
  });

  it("is a stream for its readers, and a refusal where it cannot be one", async () => {
    const { client, upstream, fetch } = await start();
    upstream.reply(eventStream(chatChunks("x".repeat(2 ** 20))));
    const long = await client.responses.stream({ model, input: "Hi" }).finalResponse();
    const get = (query: string, id = long.id, key = "sk-pro") =>
      fetch(`http://gateway.test/v1/responses/${id}?${query}`, { headers: { authorization: `Bearer ${key}` } });
    const refused = await get("stream=true");
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: "stream" } }]);
    expect((await get("stream=false")).headers.get("content-type")).toBe("application/json");
    upstream.reply(eventStream(chatChunks("short")));
    const { id } = await client.responses.stream({ model, input: "Hi" }).finalResponse();
    const stream = await get("stream=true", id);
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(await stream.text()).toMatch(/^event: response\.created\ndata: .*event: response\.completed\n/s);
    for (const query of ["stream=yes", "stream=true&starting_after=x", "stream=true&starting_after=-1"]) {
      expect((await get(query, id)).status).toBe(400);
    }
    expect((await get("stream=true", id, "sk-basic")).status).toBe(404);
    expect((await get("stream=true", "resp_none")).status).toBe(404);
  });
});
