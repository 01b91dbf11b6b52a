import { afterAll, describe, expect, it, vi } from "vitest";
import { type DepartedCall, Departure, usageWaitMs } from "../../../src/call/departure.js";
import type { RequestCompleted } from "../../../src/events/request-completed.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { createGate, type FakeAnswer, type Gate } from "../../../src/testing.js";
import { type ClientServer, expectNoSockets } from "../../e2e/clients/start-server.js";
import { chatTarget, nativeTarget } from "../../support/operations/messages/message-samples.js";
import { startMessages } from "../../support/operations/messages/messages-server.js";
import { chatServer, nativeServer } from "../../support/operations/responses/response-samples.js";
import { startResponses } from "../../support/operations/responses/responses-server.js";
import { smallModel } from "../../support/test-gateway.js";

afterAll(expectNoSockets);

/** Every answer's usage is 9 tokens of input and 3 of output: 9 + 30 micro-credits. */
const whole = { endReason: "client_gone", disconnect: "drained", usageSource: "provider", chargedMicro: 39 };

interface Ended {
  readonly event: RequestCompleted | undefined;
  readonly server: ClientServer;
}

interface Scene {
  readonly server: ClientServer;
  readonly path: string;
  readonly body: object;
  readonly answer: (gate: Gate) => FakeAnswer;
}

/** A client that reads until a text has come, and leaves; the upstream goes on when the gateway knows of it. */
async function leave({ server, path, body, answer }: Scene, last: string, goOn: (gate: Gate) => void): Promise<Ended> {
  const gate = createGate();
  server.upstream.replyOnce(answer(gate));
  const leaving = new AbortController();
  const response = fetch(`${server.baseURL}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/small", stream: true, ...body }),
    signal: leaving.signal,
  });
  await server.upstream.nextRequest();
  gate.step();
  const reader = (await Promise.all([response, gate.step()]))[0].body?.getReader();
  for (let read = ""; ; gate.step()) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) throw new Error(`The stream ended before ${last}: ${read}`);
    read += Buffer.from(piece.value).toString();
    if (read.includes(last)) break;
  }
  const before = server.closed();
  leaving.abort();
  await vi.waitFor(() => expect(server.closed()).toBe(before + 1), { interval: 2, timeout: 10_000 });
  goOn(gate);
  await server.checkBooks();
  const event = server.events.at(-1);
  await server.close();
  return { event, server };
}

const prompt = { messages: [{ role: "user", content: "Say hello." }] };
const models = (model: Partial<Model>) => ({ models: [{ ...smallModel, ...model }] });

async function chat(model: Partial<Model> = {}, said = {}): Promise<Scene> {
  const server = await startMessages(chatTarget, models(model));
  return { server, path: "/chat/completions", body: prompt, answer: (gate) => chatTarget.stream(said, { gate }) };
}

async function messages(target = nativeTarget, said = {}): Promise<Scene> {
  const server = await startMessages(target);
  const body = { ...prompt, max_tokens: 50 };
  return { server, path: "/messages", body, answer: (gate) => target.stream(said, { gate }) };
}

async function responses(target = nativeServer): Promise<Scene> {
  const server = await startResponses(target);
  return { server, path: "/responses", body: { input: "Hi" }, answer: (gate) => target.stream({}, { gate }) };
}

describe("a client that leaves when all but the usage has come pays what the upstream reports", () => {
  it.each<[string, () => Promise<Scene>, string]>([
    ["of a chat completion", chat, '"finish_reason":"stop"'],
    ["of a message", messages, "content_block_stop"],
    ["of a response", responses, "response.output_item.done"],
    ["of a response that is made of chat completions", () => responses(chatServer), "response.output_item.done"],
    [
      "of a chat completion, beyond the tokens of a drain",
      () => chat({ disconnect: { maxTokens: 1 } }),
      '"finish_reason":"stop"',
    ],
  ])("%s", async (_name, scene, last) => {
    const { event, server } = await leave(await scene(), last, (gate) => gate.open());
    expect(event).toMatchObject(whole);
    expect(await server.upstream.lastRequest.closed).toBe("completed");
  });

  it("or the bound of what it saw, where the upstream ends without one", async () => {
    const scene = await chat({}, { isUncounted: true, text: "0123456789 0123456789" });
    const { event } = await leave(scene, '"finish_reason":"stop"', (gate) => gate.open());
    // Two times ten digits, and the space.
    expect(event).toMatchObject({
      endReason: "client_gone",
      disconnect: "drained",
      usageSource: "estimated",
      tokens: { output: 21 },
    });
  });
});

describe("a client that leaves between two parts of an answer", () => {
  const calls = [
    { id: "toolu_1", name: "weather", arguments: '{"city":"Rome"}' },
    { id: "toolu_2", name: "weather", arguments: '{"city":"Oslo"}' },
  ];

  it("stops the upstream with the next part, and pays what came", async () => {
    const scene = await messages(nativeTarget, { calls });
    const { event, server } = await leave(scene, "content_block_stop", (gate) => gate.step());
    expect(event).toMatchObject({ endReason: "client_gone", disconnect: "cancelled", usageSource: "partial" });
    expect(await server.upstream.lastRequest.closed).toBe("broken");
  });
});

describe("the wait for the usage", () => {
  /** A call that its departure aborts. */
  function departed(limits: ConstructorParameters<typeof Departure>[0]) {
    vi.useFakeTimers();
    const aborted: string[] = [];
    const call = { abortReason: undefined, awaitsUsage: true, abort: (reason: string) => aborted.push(reason) };
    const departure = new Departure(limits, call as unknown as DepartedCall);
    departure.clientGone();
    const end = () => departure.ended({ reason: "client_gone" }).disconnect;
    return { call, aborted, departure, end };
  }

  it.each<[string, ConstructorParameters<typeof Departure>[0], number, string]>([
    ["without a drain", "cancel", 0, "cancelled"],
    ["behind the time of a drain", { maxMs: 700, maxTokens: 100 }, 700, "drain_timed_out"],
  ])("is short %s", (_name, limits, from, disconnect) => {
    try {
      const { aborted, departure, end } = departed(limits);
      vi.advanceTimersByTime(from + usageWaitMs - 1);
      departure.progress(5);
      expect(aborted).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(aborted).toEqual(["client_gone"]);
      expect(end()).toBe(disconnect);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is over when more than the usage comes, or the call is", () => {
    try {
      const more = departed({ maxMs: 700, maxTokens: 3 });
      more.departure.progress(5);
      expect(more.aborted).toEqual([]);
      more.call.awaitsUsage = false;
      more.departure.progress(6);
      expect(more.aborted).toEqual(["client_gone"]);
      expect(more.end()).toBe("drain_over_tokens");

      const over = departed("cancel");
      expect(over.departure.ended({ reason: "completed" })).toEqual({ reason: "client_gone", disconnect: "drained" });
      expect(vi.getTimerCount()).toBe(0);
      const late = departed("cancel");
      late.departure.timeUp();
      expect(late.aborted).toEqual(["client_gone"]);
    } finally {
      vi.useRealTimers();
    }
  });
});
