import { AsyncLocalStorage } from "node:async_hooks";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { GuardedResponse, ResponseGuard } from "../../../../src/hooks/response-guard.js";
import { chatChunks, createGate, eventStream } from "../../../../src/testing.js";
import { smallModel } from "../../../support/test-gateway.js";
import {
  bodyFor,
  type ClientPath,
  type GuardedServer,
  pairs,
  passing,
  refusing,
  saying,
  startGuardedServer,
} from "./start-guarded-server.js";

const secret = { text: "The SECRET is out" };

const ask = (server: GuardedServer, members: object = {}, init?: RequestInit) =>
  server.post("chat/completions", bodyFor("chat/completions", "chat", { stream: true, ...members }), init);

/** A guard that waits for its test. */
function waitingGuard(then: () => ReturnType<ResponseGuard["answer"]> = () => undefined) {
  const called = createGate();
  const answered = createGate();
  const seen: GuardedResponse[] = [];
  const guard: ResponseGuard = {
    name: "waiting",
    timeoutMs: 600_000,
    answer: async (answer) => {
      seen.push(answer);
      called.open();
      await answered.pass();
      return then();
    },
  };
  return { guard, called, answered, seen };
}

describe("a held stream", () => {
  it("sends nothing of the answer before the verdict, and keep-alives by comments", async () => {
    const { guard, called, answered, seen } = waitingGuard();
    const server = await startGuardedServer([guard], { keepAliveMs: 20 });
    const response = await ask(server);
    const reader = response.body?.getReader();
    await called.pass();
    let text = "";
    for (let reads = 0; reads < 3; reads++) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(text).toMatch(/^(: keep-alive\n\n)+$/);
    expect(seen).toHaveLength(1);
    answered.open();
    for (let piece = await reader?.read(); !piece?.done; piece = await reader?.read()) {
      text += Buffer.from(piece?.value ?? []).toString();
    }
    const plain = await startGuardedServer([]);
    expect(text.replaceAll(": keep-alive\n\n", "")).toBe(await (await ask(plain)).text());
  });

  it.each(pairs)("of %s on %s that was kept alive is refused, or fails, without a word of it", async (path, target) => {
    for (const isRefused of [true, false]) {
      const { guard, called, answered } = waitingGuard(() => {
        if (isRefused) return { refuse: "Not this." };
        throw new Error("down");
      });
      const server = await startGuardedServer([guard], { keepAliveMs: 20 });
      server.model.reply(saying(secret));
      const response = await server.post(path, bodyFor(path as ClientPath, target, { stream: true }));
      expect(response.status).toBe(200);
      await called.pass();
      answered.open();
      const text = await response.text();
      expect(text).not.toMatch(/SECRET|is out/);
      expect(text).toContain(isRefused ? "Not this." : "cannot be checked");
      expect(text.includes("[DONE]")).toBe(isRefused && path === "chat/completions");
      await server.checkBooks();
      expect(server.events[0]).toMatchObject({
        status: 200,
        chargedMicro: 39,
        endReason: "completed",
        ...(isRefused ? { tags: { guard: "waiting" } } : { errorCode: "service_unavailable" }),
      });
    }
  });

  it("breaks: a status where nothing has gone out, charged for what came, and no word of it", async () => {
    const server = await startGuardedServer([passing]);
    server.model.reply(eventStream(chatChunks("The SECRET is out"), { end: "cut" }));
    const events = chatChunks("The SECRET is out", { finishReason: null, usage: null });
    server.model.reply(eventStream(events, { end: "cut" }));
    const response = await ask(server);
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain("SECRET");
    await server.checkBooks();
    expect(server.events[0]).toMatchObject({ status: 502, endReason: "upstream_failed", usageSource: "partial" });
    expect(server.events[0]?.chargedMicro).toBeGreaterThan(0);
    expect(server.events[0]).not.toHaveProperty("guards");
  });

  it.each(pairs)("of %s on %s that breaks after a keep-alive ends with an error alone", async (path, target) => {
    const gate = createGate();
    const server = await startGuardedServer([passing], { keepAliveMs: 20 });
    server.model.reply(saying({ ...secret, isBroken: true }, gate));
    const asked = server.post(path, bodyFor(path as ClientPath, target, { stream: true }));
    gate.step(target === "chat" ? 6 : 8);
    const response = await asked;
    expect(response.status).toBe(200);
    gate.open();
    const text = await response.text();
    expect(text).not.toMatch(/SECRET|is out/);
    expect(text).toContain("broke off");
  });

  it("tries another target as long as nothing has come", async () => {
    const target = { provider: "fake", model: "upstream-small" };
    const server = await startGuardedServer([passing], { models: [{ ...smallModel, upstream: [target, target] }] });
    server.model.replyOnce((_request, response) => void response.writeHead(500).end("{}"));
    const body = { model: "acme/small", messages: [{ role: "user", content: "Hi" }], stream: true };
    expect(await (await server.post("chat/completions", body)).text()).toContain("[DONE]");
    await server.checkBooks();
    expect(server.events[0]?.attempts).toHaveLength(2);
    expect(server.events[0]?.chargedMicro).toBe(39);
  });

  it.each([true, false])("and its guard may take longer than a target may (streamed: %s)", async (stream) => {
    const { guard, called, answered } = waitingGuard();
    const upstream = { provider: "fake", model: "upstream-small", timeoutMs: 300 };
    const server = await startGuardedServer([guard], { models: [{ ...smallModel, upstream }] });
    const body = { model: "acme/small", messages: [{ role: "user", content: "Hi" }], stream };
    const asked = server.post("chat/completions", body);
    await called.pass();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await vi.advanceTimersByTimeAsync(2_000);
    vi.useRealTimers();
    answered.open();
    const response = await asked;
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("Hello");
    expect(server.model.requests).toHaveLength(1);
  });

  it.each([true, false])(
    "whose client leaves is charged for what came, and aborts its guard (streamed: %s)",
    async (stream) => {
      const { guard, called, answered, seen } = waitingGuard(() => {
        throw new Error("too late");
      });
      const server = await startGuardedServer([guard]);
      const client = new AbortController();
      const asked = ask(server, { stream }, { signal: client.signal }).catch((error: Error) => error.name);
      await called.pass();
      expect(seen[0]?.signal.aborted).toBe(false);
      client.abort();
      expect(await asked).toBe("AbortError");
      await server.checkBooks();
      expect(seen[0]?.signal.aborted).toBe(true);
      answered.open();
      expect(server.events[0]).toMatchObject({ endReason: "client_gone", usageSource: "provider", chargedMicro: 39 });
      expect(server.warnings).toEqual([]);
    },
  );

  it.each([true, false])(
    "whose client leaves a model that is read on is still checked (streamed: %s)",
    async (stream) => {
      const { guard, called, answered, seen } = waitingGuard(() => ({ refuse: "Not this." }));
      const upstream = { provider: "fake", model: "upstream-small" };
      const server = await startGuardedServer([guard], { models: [{ ...smallModel, upstream, disconnect: "drain" }] });
      const client = new AbortController();
      const body = { model: "acme/small", messages: [{ role: "user", content: "Hi" }], stream };
      const init = { signal: client.signal };
      const asked = server.post("chat/completions", body, init).catch((error: Error) => error.name);
      await called.pass();
      client.abort();
      expect(await asked).toBe("AbortError");
      await expect.poll(() => server.closed()).toBe(1);
      expect(seen[0]?.signal.aborted).toBe(false);
      answered.open();
      await server.checkBooks();
      expect(server.events[0]).toMatchObject({ disconnect: "drained", chargedMicro: 39, tags: { guard: "waiting" } });
    },
  );

  it("whose client leaves is read on up to the most tokens, and no further", async () => {
    const gate = createGate();
    const upstream = { provider: "fake", model: "upstream-small" };
    const disconnect = { maxTokens: 20 };
    const server = await startGuardedServer([passing], { models: [{ ...smallModel, upstream, disconnect }] });
    server.model.reply(saying({ text: "word ".repeat(500) }, gate));
    const client = new AbortController();
    const body = { model: "acme/small", messages: [{ role: "user", content: "Hi" }], stream: true };
    const init = { signal: client.signal };
    const asked = server.post("chat/completions", body, init).catch((error: Error) => error.name);
    gate.step(2);
    await server.model.nextRequest();
    await expect.poll(() => gate.waiting).toBe(1);
    client.abort();
    expect(await asked).toBe("AbortError");
    await expect.poll(() => server.closed()).toBe(1);
    gate.open();
    await server.checkBooks();
    expect(server.events[0]).toMatchObject({ disconnect: "drain_over_tokens", usageSource: "partial" });
    expect(server.events[0]?.tokens.output).toBeLessThan(30);
    expect(server.events[0]).not.toHaveProperty("guards");
  });

  it("whose client leaves while it comes stops the upstream", async () => {
    const gate = createGate();
    const server = await startGuardedServer([passing]);
    server.model.reply(saying(secret, gate));
    const client = new AbortController();
    const asked = ask(server, {}, { signal: client.signal }).catch((error: Error) => error.name);
    gate.step(4);
    const request = await server.model.nextRequest();
    await expect.poll(() => gate.waiting).toBe(1);
    client.abort();
    expect(await asked).toBe("AbortError");
    expect(await request.closed).toBe("broken");
    gate.open();
    await server.checkBooks();
    expect(server.events[0]).toMatchObject({ endReason: "client_gone", usageSource: "partial" });
  });

  it("is still held when the gateway closes: the client gets an error, and nothing stays held", async () => {
    const { guard, called, answered, seen } = waitingGuard();
    const server = await startGuardedServer([guard]);
    const asked = ask(server);
    await called.pass();
    await server.gateway.close();
    expect((await asked).status).toBe(503);
    expect(seen[0]?.signal.aborted).toBe(true);
    answered.open();
  });

  it("goes out whole, however long it is", async () => {
    const text = "A word. ".repeat(1000);
    const plain = await startGuardedServer([]);
    plain.model.reply(saying({ text }));
    const server = await startGuardedServer([passing]);
    server.model.reply(saying({ text }));
    const sent = await (await ask(server)).text();
    // What goes out at once is shorter.
    expect(sent.length).toBeGreaterThan(300_000);
    expect(sent).toBe(await (await ask(plain)).text());
  });

  it("that is too large to hold is refused, or goes out, as its guard says", async () => {
    const long = "The SECRET is out. ".repeat(500);
    const strict = await startGuardedServer([refusing], { maxResponseBytes: 5_000 });
    strict.model.reply(saying({ text: long }));
    const response = await ask(strict);
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("SECRET");
    await strict.checkBooks();
    expect(strict.events[0]).toMatchObject({ usageSource: "partial", guards: [{ verdict: "failed" }] });
    expect(strict.warnings).toMatchObject([{ code: "hook_failed" }]);
    expect(strict.gateway.health()).toMatchObject({ models: { "acme/chat": { targets: [{ failed: 0 }] } } });

    const plain = await startGuardedServer([]);
    plain.model.reply(saying({ text: long }));
    const lenient = await startGuardedServer([{ ...refusing, onError: "allow" }], { maxResponseBytes: 5_000 });
    lenient.model.reply(saying({ text: long }));
    expect(await (await ask(lenient)).text()).toBe(await (await ask(plain)).text());
    await lenient.checkBooks();
    expect(lenient.events[0]).toMatchObject({ chargedMicro: 39, guards: [{ verdict: "failed" }] });
  });
});

describe("a watched stream", () => {
  it("goes out untouched, and its refusal is an event and a tag", async () => {
    const gate = createGate();
    const server = await startGuardedServer([{ ...refusing, stream: "watch" }]);
    server.model.reply(saying(secret, gate));
    const asked = ask(server);
    gate.step(4);
    const reader = (await asked).body?.getReader();
    let text = Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(text).toContain("data: ");
    gate.open();
    for (let piece = await reader?.read(); !piece?.done; piece = await reader?.read()) {
      text += Buffer.from(piece?.value ?? []).toString();
    }
    expect(text).toContain("SECRET");
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    await server.checkBooks();
    expect(server.events[0]).toMatchObject({ tags: { guard: "secrets" }, guards: [{ verdict: "refused" }] });
    expect(await (await ask(server, { stream: false })).text()).not.toContain("SECRET");
  });

  it("is not harmed by a guard that fails, nor by its own size", async () => {
    const failing: ResponseGuard = { name: "down", stream: "watch", answer: () => Promise.reject(new Error("down")) };
    const server = await startGuardedServer([failing], { maxResponseBytes: 5_000 });
    for (const text of ["Hello", "Hello ".repeat(2_000)]) {
      server.model.reply(saying({ text }));
      expect(await (await ask(server)).text()).toContain("[DONE]");
    }
    await server.checkBooks();
    expect(server.events.map(({ guards }) => guards?.[0]?.verdict)).toEqual(["failed", "failed"]);
    expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39]);
  });
});

describe("a refused response", () => {
  it.each([true, false])("is kept as its client got it (streamed: %s)", async (stream) => {
    for (const target of ["responses", "chat", "messages"]) {
      const server = await startGuardedServer([refusing]);
      server.model.reply(saying(secret));
      const client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 });
      const body = { model: `acme/${target}`, input: "Hi", store: true };
      const { id } = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
      const kept = await client.responses.retrieve(id);
      expect(kept).toMatchObject({ status: "incomplete", output: [{ content: [{ refusal: "Not this." }] }] });
      server.model.reply(saying({ text: "And then" }));
      await client.responses.create({ model: `acme/${target}`, input: "Go on", previous_response_id: id });
      const sent = server.model.lastRequest.body.toString();
      expect(sent).toContain("Not this.");
      expect(sent).not.toContain("SECRET");
    }
  });
});

describe("the code of a guard", () => {
  it("runs where its request came in, and may call the gateway, which it does not guard", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const holder: { server?: GuardedServer } = {};
    const calling: ResponseGuard = {
      name: "calling",
      timeoutMs: 30_000,
      async answer({ source, texts, stream }) {
        const mine = holder.server?.gateway.as({ account: "acct_pro", plan: "pro", anchor: null });
        if (mine === undefined) throw new Error("no server");
        const init = { method: "POST", headers: { "content-type": "application/json" } };
        const asked = { ...bodyFor("chat/completions", "chat"), stream };
        const said = await mine.fetch(`${mine.baseURL}/chat/completions`, { ...init, body: JSON.stringify(asked) });
        seen.push([storage.getStore(), source, texts[0]?.text, (await said.text()).includes("SECRET")]);
      },
    };
    const other = vi.fn();
    holder.server = await startGuardedServer([calling, { name: "other", answer: other }]);
    holder.server.model.reply(saying(secret));
    const { gateway } = holder.server;
    const mine = gateway.as({ account: "acct_pro", plan: "pro", anchor: null });
    for (const stream of [false, true]) {
      const body = JSON.stringify(bodyFor("chat/completions", "chat", { stream }));
      const init = { method: "POST", headers: { "content-type": "application/json" }, body };
      const response = await storage.run("host", () => mine.fetch(`${mine.baseURL}/chat/completions`, init));
      expect(await response.text()).toContain("SECRET");
    }
    expect(seen).toEqual([
      ["host", "in_process", "The SECRET is out", true],
      ["host", "in_process", "The SECRET is out", true],
    ]);
    // The other guard sees the calls that the first one makes, too.
    expect(other).toHaveBeenCalledTimes(4);
    expect(holder.server.events).toHaveLength(4);
    // The books of the test count the requests over HTTP.
    holder.server.events.length = 0;
    await gateway.accounts.forget("acct_pro");
  });
});
