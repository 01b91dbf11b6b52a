import { Buffer } from "node:buffer";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { AbortNotifier } from "../../../src/call/abort-notifier.js";
import { send as sendRequest } from "../../../src/call/relay/send.js";
import { noObserver } from "../../../src/events/request-observer.js";
import { chatCompletions } from "../../../src/protocols/chat/chat-completions.js";
import { MemberRules } from "../../../src/protocols/shared/member-rules.js";
import type { Exchange } from "../../../src/protocols/shared/operation.js";
import type { UpstreamProvider, UpstreamResponse } from "../../../src/providers/upstream-provider.js";
import { resolveTokenBounds } from "../../../src/tokens/tokenizer.js";
import { ownSeal } from "../../support/own-seal.js";

const model = {
  id: "acme/small",
  contextLength: 1000,
  maxOutputTokens: undefined,
  enforcesContext: false,
  tokenizer: undefined,
  tokenBounds: resolveTokenBounds(undefined),
  missing: undefined,
  reasons: true,
  translatesToMessages: false,
  rules: [],
  dialects: [],
};
const traits = {
  upstreamModel: "small",
  operations: new Set(["chat/completions"] as const),
  price: { pricesTokens: true, units: [] },
  rules: MemberRules.none,
  dialect: undefined,
  secrets: undefined,
};
const request = await chatCompletions.parse(
  Buffer.from('{"model":"acme/small","messages":[{"role":"user","content":"hi"}]}'),
  { maxBodyDepth: 16, maxBodyBytes: 1e6, responses: undefined, seal: ownSeal },
  { account: "acct_1", header: () => undefined },
);
const facts = {
  requestId: "req_1",
  callId: "req_1",
  promptTokens: 7,
  outputCap: 1000,
  admittedAt: 0,
  startedAt: 0,
  clock: { now: () => 0 },
};
const exchange = request.exchangeWith(traits, model, facts) as Exchange;

const caller = { account: "acct_1", keyId: "key_1" };

function send(call: UpstreamProvider["call"], notice = new AbortNotifier()) {
  const meter = { handedOver: vi.fn(), notHandedOver: vi.fn(), respondsOn: vi.fn() };
  const attempt = {
    target: { provider: { call }, upstreamModel: "small" },
    notice,
    meter,
    call: {
      observer: noObserver,
      client: { header: () => undefined },
      operation: chatCompletions,
      services: { clock: { now: () => 0 }, background: { add() {} }, warn() {} },
      admission: {
        ...{ requestId: "req_1", callId: "call_1", request, caller, tags: { team: "search" }, additions: undefined },
      },
      trace: undefined,
    },
  };
  return sendRequest(attempt, exchange);
}

/** An answer whose body never says anything, and which counts how often it was left. */
function silentResponse(status = 200) {
  const left = vi.fn(async () => ({ done: true as const, value: undefined }));
  const iterator = { next: () => new Promise<never>(() => {}), return: left };
  const answer: UpstreamResponse = { status, headers: {}, body: { [Symbol.asyncIterator]: () => iterator } };
  return { answer, left };
}

describe("send", () => {
  it("waits no longer than the call lasts, and leaves what the provider answers later", async () => {
    const notice = new AbortNotifier();
    const { answer, left } = silentResponse();
    let respond = (_: UpstreamResponse): void => {};
    const called = new Promise<UpstreamResponse>((resolve) => {
      respond = resolve;
    });
    const sent = send(() => called, notice);
    notice.abort();
    await expect(sent).rejects.toMatchObject({ failure: "aborted" });
    expect(left).not.toHaveBeenCalled();
    respond(answer);
    await expect.poll(() => left).toHaveBeenCalledOnce();
  });

  it("reads no header of a good answer that nothing observes: parsing them takes time", async () => {
    const { answer } = silentResponse();
    const readHeaders = vi.fn(() => ({}));
    const sent = await send(async () => Object.defineProperty({ ...answer }, "headers", { get: readHeaders }));
    expect(sent.status).toBe(200);
    expect(readHeaders).not.toHaveBeenCalled();
  });

  it("waits no longer than the call lasts for what an error answer says", async () => {
    const notice = new AbortNotifier();
    const { answer } = silentResponse(500);
    const sent = send(async () => answer, notice);
    setImmediate(() => notice.abort());
    await expect(sent).rejects.toMatchObject({ failure: "aborted" });
  });

  it("waits a limited time for what an error answer says, also when it comes in drips", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let wake = (): void => {};
    const left = vi.fn();
    const drips = (async function* () {
      try {
        for (;;) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          yield Buffer.from(" ");
        }
      } finally {
        left();
      }
    })();
    const sent = send(async () => ({ status: 500, headers: {}, body: drips }));
    let isSettled = false;
    sent
      .catch(() => {})
      .finally(() => {
        isSettled = true;
      });
    for (let second = 0; second < 20 && !isSettled; second++) {
      wake();
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(isSettled).toBe(true);
    await expect(sent).rejects.toMatchObject({ status: 502 });
    wake();
    await expect.poll(() => left).toHaveBeenCalledOnce();
  });

  it("reads an error from a body that is a list", async () => {
    const body = [Buffer.from('{"error":{"message":"No such parameter."}}')] as never;
    await expect(send(async () => ({ status: 400, headers: {}, body }))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("No such parameter."),
    });
  });

  it("gives the answer to a call that ends only later", async () => {
    const notice = new AbortNotifier();
    const { answer, left } = silentResponse();
    const sent = send(async () => answer, notice);
    await expect(sent).resolves.toBe(answer);
    notice.abort();
    expect(left).not.toHaveBeenCalled();
  });

  it("takes what a provider throws at once, and what is no promise or no answer, for what it is", async () => {
    const { answer } = silentResponse();
    const thrower = () => {
      throw new Error("at once");
    };
    await expect(send(thrower)).rejects.toMatchObject({ status: 502, cause: { message: "at once" } });
    await expect(send((() => answer) as never)).resolves.toBe(answer);
    await expect(send((async () => undefined) as never)).rejects.toMatchObject({ status: 502 });
    await expect(send((async () => ({ status: 500 })) as never)).rejects.toMatchObject({ status: 502 });
  });
});
