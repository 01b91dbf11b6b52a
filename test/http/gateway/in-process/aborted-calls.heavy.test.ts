import { setTimeout as delay } from "node:timers/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  hangBeforeHeaders,
  honestChat,
  wholeAnswer,
} from "../../../../src/testing.js";
import { smallModel } from "../../../support/test-gateway.js";
import { ask, post, start } from "./start-in-process.js";

describe("the fetch of gateway.as(), when its signal is aborted", () => {
  it("rejects with the signal's reason before the call, which is then not made", async () => {
    const { inProcess, upstream, events } = await start();
    const reason = new Error("no longer wanted");
    await expect(post(inProcess.fetch, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const plain = post(inProcess.fetch, { signal: AbortSignal.abort() });
    await expect(plain).rejects.toMatchObject({ name: "AbortError" });
    const request = new Request("http://infergate.invalid/v1/models", { signal: AbortSignal.abort() });
    await expect(inProcess.fetch(request)).rejects.toMatchObject({ name: "AbortError" });
    expect([upstream.requests.length, events.length]).toEqual([0, 0]);
  });

  it.each([
    ["whole", false],
    ["streamed", true],
  ])("rejects with it while the upstream has not answered, %s, and pays like a client that left", async (_, stream) => {
    const { inProcess, gateway, upstream, nextEvent } = await start();
    upstream.reply(hangBeforeHeaders());
    const controller = new AbortController();
    const event = nextEvent();
    const call = post(inProcess.fetch, { signal: controller.signal, body: JSON.stringify({ ...ask, stream }) });
    await upstream.nextRequest();
    const reason = { why: "anything" };
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(await event).toMatchObject({ endReason: "client_gone", status: 499 });
    const { windows } = await gateway.accounts.balance("acct_pro", { plan: "pro", anchor: null });
    expect(windows.session).toMatchObject({ heldMicro: 0 });
  });

  it("rejects at once although the answer is read on for its usage", async () => {
    const { inProcess, upstream, nextEvent } = await start({ models: [{ ...smallModel, disconnect: "drain" }] });
    const gate = createGate();
    upstream.reply(wholeAnswer(chatAnswer({ content: "Hello" }), { gate }));
    const controller = new AbortController();
    const event = nextEvent();
    const call = post(inProcess.fetch, { signal: controller.signal });
    await upstream.nextRequest();
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    gate.open();
    expect(await event).toMatchObject({ endReason: "client_gone" });
  });

  it("fails the body of a stream with it", async () => {
    const { inProcess, upstream, nextEvent } = await start();
    upstream.reply(eventStream(chatChunks("Hello world").slice(0, 2), { end: "hang" }));
    const controller = new AbortController();
    const event = nextEvent();
    const body = JSON.stringify({ ...ask, stream: true });
    const response = await post(inProcess.fetch, { body, signal: controller.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    const next = (async () => {
      for (;;) if ((await reader?.read())?.done) return "the stream ended";
    })();
    controller.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
    expect(await event).toMatchObject({ endReason: "client_gone" });
  });

  it("leaves a response that was read to its end alone", async () => {
    const { inProcess, upstream } = await start();
    upstream.reply(eventStream(chatChunks("Hello world")));
    const controller = new AbortController();
    const body = JSON.stringify({ ...ask, stream: true });
    const response = await post(inProcess.fetch, { body, signal: controller.signal });
    expect(await response.text()).toContain("[DONE]");
    controller.abort();
    expect((await post(inProcess.fetch, { body, signal: new AbortController().signal })).status).toBe(200);
  });
});

describe("SDKs with the fetch of gateway.as()", () => {
  it("OpenAI's throws APIUserAbortError, whole and streamed", async () => {
    const { inProcess, upstream } = await start();
    const client = new OpenAI({ ...inProcess, apiKey: "none", maxRetries: 2 });
    for (const stream of [false, true]) {
      upstream.reply(hangBeforeHeaders());
      const controller = new AbortController();
      const call = client.chat.completions.create({ ...ask, stream }, { signal: controller.signal });
      await upstream.nextRequest();
      controller.abort();
      await expect(call).rejects.toThrow(OpenAI.APIUserAbortError);
    }
    expect(upstream.requests).toHaveLength(2);
  });

  it("OpenAI's repeats a call that took longer than its timeout", async () => {
    const { inProcess, upstream } = await start();
    upstream.replyOnce(hangBeforeHeaders());
    const client = new OpenAI({ ...inProcess, apiKey: "none", maxRetries: 1, timeout: 50 });
    upstream.reply(honestChat());
    const answer = await client.chat.completions.create(ask);
    expect([answer.choices[0]?.message.content, upstream.requests.length]).toEqual(["Hello world", 2]);
    upstream.reply(hangBeforeHeaders());
    await expect(client.chat.completions.create(ask, { maxRetries: 0 })).rejects.toThrow(
      OpenAI.APIConnectionTimeoutError,
    );
  });

  it("Anthropic's throws APIUserAbortError, and repeats a call that took too long", async () => {
    const { inProcess, upstream } = await start();
    const { fetch } = inProcess;
    const client = new Anthropic({ baseURL: "http://infergate.invalid", fetch, apiKey: "none", maxRetries: 1 });
    const asked = { ...ask, max_tokens: 10 };
    upstream.reply(hangBeforeHeaders());
    const controller = new AbortController();
    const call = client.messages.create(asked, { signal: controller.signal });
    await upstream.nextRequest();
    controller.abort();
    await expect(call).rejects.toThrow(Anthropic.APIUserAbortError);
    upstream.replyOnce(hangBeforeHeaders());
    upstream.reply(honestChat());
    const answer = await client.messages.create(asked, { timeout: 50 });
    expect(answer.content).toMatchObject([{ type: "text", text: "Hello world" }]);
  });

  it("the AI SDK sees the abort, whole and in the middle of a stream", async () => {
    const { inProcess, upstream } = await start();
    const model = createOpenAICompatible({ name: "acme", ...inProcess })("acme/small");
    upstream.reply(hangBeforeHeaders());
    const whole = new AbortController();
    const call = generateText({ model, prompt: "Hi", abortSignal: whole.signal });
    await upstream.nextRequest();
    whole.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    upstream.reply(eventStream(chatChunks("Hello world"), { end: "hang" }));
    const streamed = new AbortController();
    let seen = "nothing";
    const { fullStream } = streamText({
      model,
      prompt: "Hi",
      abortSignal: streamed.signal,
      onAbort: () => {
        seen = "abort";
      },
    });
    for await (const { type } of fullStream) if (type === "text-delta") streamed.abort();
    await delay(0);
    expect(seen).toBe("abort");
  });
});
