import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { GatewayError } from "../../../../src/errors/gateway-error.js";
import type { IncomingCall, OnRequest } from "../../../../src/hooks/admission.js";
import { createGate } from "../../../../src/testing/gate.js";
import { post, startHookedGateway } from "./start-hooked-gateway.js";

const chat = { model: "acme/small", messages: [{ role: "user", content: "my card is 4111" }] };

/** A hook that may return and throw anything. */
const anyHook = (hook: (call: IncomingCall) => unknown) => hook as OnRequest;

describe("onRequest", () => {
  it("learns whose call it is and what for, once key, plan and model are checked", async () => {
    const calls: IncomingCall[] = [];
    const { gateway } = await startHookedGateway((call) => void calls.push(call));
    const response = await gateway.handler(post("chat/completions", { ...chat, stream: true }));
    await response.text();
    expect(calls).toMatchObject([
      {
        requestId: response.headers.get("x-request-id"),
        source: "key",
        account: "acct_pro",
        keyId: "key_pro",
        plan: "pro",
        model: "acme/small",
        endpoint: "chat/completions",
        stream: true,
      },
    ]);
    expect(calls[0]?.header("X-Feature")).toBe("search");
    expect(calls[0]?.header("x-other")).toBeUndefined();
    expect(calls[0]?.texts()).toEqual([{ path: "messages[0].content", role: "user", text: "my card is 4111" }]);
    for (const refused of [
      post("chat/completions", { ...chat, model: "acme/none" }),
      post("chat/completions", chat, { headers: { "content-type": "application/json" } }),
      post("chat/completions", { ...chat, messages: [] }),
      post("embeddings", { model: "acme/small", input: "x" }),
    ]) {
      expect((await gateway.handler(refused)).status).toBeGreaterThan(399);
    }
    expect(calls).toHaveLength(1);
  });

  it("refuses a call with an error of its own, which costs and holds nothing", async () => {
    const refusal = new GatewayError("Not this.", {
      status: 400,
      code: "content_filter",
      param: "messages[0].content",
      headers: { "x-rule": "cards" },
    });
    const { gateway, server, events, warnings, ledger } = await startHookedGateway(() => {
      throw refusal;
    });
    const reserve = vi.spyOn(ledger, "reserve");
    const response = await gateway.handler(post("chat/completions", chat));
    expect(response.status).toBe(400);
    expect(response.headers.get("x-rule")).toBe("cards");
    expect(((await response.json()) as { error: unknown }).error).toEqual({
      message: "Not this.",
      type: "invalid_request_error",
      param: "messages[0].content",
      code: "content_filter",
    });
    const messages = { ...chat, max_tokens: 9 };
    expect(await (await gateway.handler(post("messages", messages))).json()).toMatchObject({ type: "error" });
    expect(reserve).not.toHaveBeenCalled();
    expect([server.requests, warnings]).toEqual([[], []]);
    expect(events[0]).toMatchObject({ status: 400, errorCode: "content_filter", chargedMicro: 0, attempts: [] });
  });

  it("runs where the host's own context is, over HTTP and in process", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const { gateway } = await startHookedGateway(async ({ source, keyId, texts }) => {
      await Promise.resolve();
      seen.push([storage.getStore(), source, keyId, texts().length]);
    });
    await storage.run("http", () => gateway.handler(post("chat/completions", chat)));
    const { baseURL, fetch } = gateway.as({ account: "acct_pro", plan: "pro", anchor: null });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(chat) };
    await storage.run("process", () => fetch(`${baseURL}/chat/completions`, init));
    expect(seen).toEqual([
      ["http", "key", "key_pro", 1],
      ["process", "in_process", undefined, 1],
    ]);
  });

  it("is not run for what calls no model", async () => {
    const hook = vi.fn();
    const { gateway } = await startHookedGateway(hook);
    const headers = { authorization: "Bearer sk-pro" };
    for (const path of ["models", "models/acme/small", "usage"]) {
      expect((await gateway.handler(new Request(`http://gateway.test/v1/${path}`, { headers }))).status).toBe(200);
    }
    const counted = { ...chat, model: "acme/messages" };
    expect((await gateway.handler(post("messages/count_tokens", counted))).status).toBe(200);
    expect(hook).not.toHaveBeenCalled();
  });
});

describe("an onRequest that fails", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const failing: Record<string, (call: IncomingCall) => unknown> = {
    "throws an error": () => {
      throw new Error("secret detail");
    },
    "throws nothing at all": () => {
      // biome-ignore lint/style/useThrowOnlyError: a hook may
      throw undefined;
    },
    "throws what cannot be looked at": () => {
      throw new Proxy(new Error("x"), {
        getPrototypeOf() {
          throw new Error("secret detail");
        },
      });
    },
    "throws an error that only looks like a final one": () => {
      throw Object.assign(new Error("x"), { name: "GatewayError", status: 200, code: "fine" });
    },
    "throws a header that no response can have": () => {
      throw new GatewayError("x", { status: 400, code: "x", headers: { "a b": "\n" } });
    },
    rejects: () => Promise.reject(new Error("secret detail")),
    "returns null": () => null,
    "returns a text": () => "fine",
    "misspells a member": () => ({ tag: { a: "b" } }),
    "has a tag that is no text": () => ({ tags: { team: 1 } }),
    "has a tag of another meaning": () => ({ tags: { model: "x" } }),
    "has a tag with a name that no store keeps": () => ({ tags: { "a\0": "x" } }),
    "has a tag that is too long": () => ({ tags: { team: "x".repeat(257) } }),
    "has half a character in a tag": () => ({ tags: { team: "\ud83d" } }),
    "has too many tags": () => ({ tags: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`t${at}`, "x"])) }),
    "sets a credential": () => ({ upstream: { headers: { Authorization: "Bearer x" } } }),
    "sets a key": () => ({ upstream: { headers: { "X-Api-Key": "x" } } }),
    "sets the host": () => ({ upstream: { headers: { host: "example.com" } } }),
    "sets a length": () => ({ upstream: { headers: { "content-length": "3" } } }),
    "sets a header with a line break": () => ({ upstream: { headers: { "x-a": "b\r\nc: d" } } }),
    "sets the model": () => ({ upstream: { set: { model: "other" } } }),
    "sets the messages in another spelling": () => ({ upstream: { set: { Messages: [] } } }),
    "sets a cap": () => ({ upstream: { set: { max_tokens: 1_000_000 } } }),
    "sets the stream": () => ({ upstream: { set: { stream: true } } }),
    "sets what is no JSON": () => ({ upstream: { set: { user: () => {} } } }),
    "sets what never ends": () => ({ upstream: { set: { user: cyclic } } }),
    "replaces a text that is not there": () => ({ texts: [{ path: "messages[1].content", text: "x" }] }),
    "replaces what is no text": () => ({ texts: [{ path: "messages[0].role", text: "system" }] }),
    "replaces a text twice": () => ({ texts: ["a", "b"].map((text) => ({ path: "messages[0].content", text })) }),
    "replaces a text by a number": () => ({ texts: [{ path: "messages[0].content", text: 1 }] }),
    "has members that throw": () => ({
      get tags() {
        throw new Error("secret detail");
      },
    }),
  };

  it.each(Object.entries(failing))(
    "%s: the client gets a 503 without a reason, the operator the reason",
    async (_, hook) => {
      const { gateway, server, warnings, events, ledger } = await startHookedGateway(anyHook(hook));
      const reserve = vi.spyOn(ledger, "reserve");
      const response = await gateway.handler(post("chat/completions", chat));
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("5");
      const text = await response.text();
      expect(JSON.parse(text).error.code).toBe("service_unavailable");
      expect(text).not.toMatch(/secret|onRequest|tag|member|path/);
      const requestId = response.headers.get("x-request-id");
      expect(warnings).toMatchObject([{ code: "hook_failed", requestId }]);
      expect(warnings[0]).toHaveProperty("cause");
      expect(server.requests).toEqual([]);
      expect(reserve).not.toHaveBeenCalled();
      expect(events).toMatchObject([{ status: 503, errorCode: "service_unavailable", chargedMicro: 0 }]);
    },
  );

  it("hangs: its signal is aborted when its time is over, and the client gets a 503", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const called = createGate();
    let signal: AbortSignal | undefined;
    const { gateway, warnings } = await startHookedGateway(
      (call) => {
        signal = call.signal;
        called.open();
        return new Promise(() => {});
      },
      { hookTimeoutMs: 500 },
    );
    const response = gateway.handler(post("chat/completions", chat));
    await called.pass();
    await vi.advanceTimersByTimeAsync(400);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect((await response).status).toBe(503);
    expect(signal?.aborted).toBe(true);
    expect(warnings).toMatchObject([{ code: "hook_failed", cause: { name: "TimeLimitError" } }]);
  });

  it("outlives its client: its signal is aborted, nothing is held, and its late failure harms nothing", async () => {
    const called = createGate();
    const late = createGate();
    let signal: AbortSignal | undefined;
    const { gateway, server, warnings, nextEvent } = await startHookedGateway(async (call) => {
      signal = call.signal;
      called.open();
      await late.pass();
      throw new Error("too late");
    });
    const client = new AbortController();
    const event = nextEvent();
    const response = gateway.handler(post("chat/completions", chat, { signal: client.signal }));
    await called.pass();
    expect(signal?.aborted).toBe(false);
    client.abort();
    expect((await response).status).toBe(499);
    expect(signal?.aborted).toBe(true);
    late.open();
    expect(await event).toMatchObject({ status: 499, errorCode: "client_gone" });
    expect([server.requests, warnings]).toEqual([[], []]);
  });

  it("is still at it when the gateway closes: no call is made", async () => {
    const called = createGate();
    const answered = createGate();
    const { gateway, server, ledger } = await startHookedGateway(async () => {
      called.open();
      await answered.pass();
    });
    const reserve = vi.spyOn(ledger, "reserve");
    const response = gateway.handler(post("chat/completions", chat));
    await called.pass();
    await gateway.close();
    answered.open();
    expect((await response).status).toBe(503);
    expect(server.requests).toEqual([]);
    expect(reserve).not.toHaveBeenCalled();
  });
});
