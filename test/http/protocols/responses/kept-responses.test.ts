import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { ResponseStore } from "../../../../src/responses/response-store.js";
import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { startTestGateway } from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(options: Partial<GatewayOptions> = {}) {
  const test = await startTestGateway(options);
  closers.push(test.close);
  const clientOf = (apiKey: string) =>
    new OpenAI({
      apiKey,
      baseURL: "http://gateway.test/v1",
      maxRetries: 0,
      fetch: (url, init) => test.gateway.handler(new Request(url, init)),
    });
  return { ...test, client: clientOf("sk-pro"), other: clientOf("sk-basic") };
}

const ask = { model: "acme/small", input: "Hi" };

describe("responses that are kept", () => {
  it("are gone on from, whole and streamed, with all that came before", async () => {
    const { client, upstream } = await start();
    upstream.replyOnce(eventStream(chatChunks("One")));
    const first = await client.responses.stream(ask).finalResponse();
    upstream.replyOnce(wholeAnswer(chatAnswer({ content: "Two" })));
    const second = await client.responses.create({ ...ask, input: "More", previous_response_id: first.id });
    expect(second).toMatchObject({ previous_response_id: first.id, output_text: "Two" });
    await client.responses.create({ ...ask, input: "Yet more", previous_response_id: second.id });
    const { messages } = upstream.lastRequest.json as { messages: { role: string; content: unknown }[] };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect(JSON.stringify(messages)).toMatch(/Hi.*One.*More.*Two.*Yet more/s);
  });

  it("can be read, listed and deleted by their account alone", async () => {
    const { client, other } = await start();
    const { id, output } = await client.responses.create(ask);
    expect(await client.responses.retrieve(id)).toMatchObject({ id, output, store: true });
    const { data } = await client.responses.inputItems.list(id);
    expect(data).toMatchObject([{ type: "message", role: "user", content: "Hi" }]);
    await expect(other.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(other.responses.delete(id)).rejects.toMatchObject({ status: 404 });
    const previous = { ...ask, previous_response_id: id };
    await expect(other.responses.create(previous)).rejects.toMatchObject({ code: "previous_response_not_found" });
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.create(previous)).rejects.toMatchObject({ status: 400 });
  });

  it("give their items by reference", async () => {
    const { client, upstream } = await start();
    upstream.replyOnce(wholeAnswer(chatAnswer({ content: "One" })));
    const { output } = await client.responses.create(ask);
    const reference = { type: "item_reference" as const, id: output[0]?.id ?? "" };
    await client.responses.create({ ...ask, input: [reference, { role: "user", content: "More" }] });
    expect(JSON.stringify(upstream.lastRequest.json)).toContain("One");
  });

  it("are not kept where the client does not want that, or the gateway keeps none", async () => {
    const { client } = await start();
    const response = await client.responses.create({ ...ask, store: false });
    expect(response).toMatchObject({ store: false });
    await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
    const without = await start({ responses: false });
    expect(await without.client.responses.create(ask)).toMatchObject({ store: false });
    const previous = { ...ask, previous_response_id: "resp_1" };
    await expect(without.client.responses.create(previous)).rejects.toMatchObject({
      status: 400,
      param: "previous_response_id",
    });
  });

  it("are forgotten with their account", async () => {
    const { client, gateway } = await start();
    const { id } = await client.responses.create(ask);
    await gateway.accounts.forget("acct_pro");
    await gateway.keys.create({ account: "acct_pro", plan: "pro" });
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: expect.toSatisfy((s) => s >= 401) });
  });

  it("fail no call where their store fails, and say so", async () => {
    const fail = () => Promise.reject(new Error("no disk"));
    const responses = { put: fail, find: fail, findChain: fail } as unknown as ResponseStore;
    const { client, warnings } = await start({ responses });
    const { id } = await client.responses.create(ask);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 503 });
    expect(warnings.map(({ code }) => code)).toEqual(["response_store_failed", "response_store_failed"]);
  });
});
