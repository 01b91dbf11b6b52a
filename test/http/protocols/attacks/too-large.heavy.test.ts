import type { ServerResponse } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import type { OperationName } from "../../../../src/prices/operation-name.js";
import { eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { everyCall, modelFor, startOperation } from "./any-operation.js";

afterAll(expectNoSockets);

const bounds = { maxResponseBytes: 5000, maxEventBytes: 5000 };
const padding = "x".repeat(6000);

/** More than is passed on, before the client has got anything. */
const shapes: Readonly<Record<string, FakeAnswer>> = {
  "a document": wholeAnswer(`{"text":"${padding}"}`),
  "a document without an end": async (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"text":"');
    while (!response.destroyed) {
      response.write("x".repeat(500));
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
};

/** What requests ask for that have large responses: images and vectors always do. */
const muchOf: Readonly<Partial<Record<OperationName, readonly object[]>>> = {
  "images/generations": [{}],
  "images/edits": [{}],
  embeddings: [{}],
  "chat/completions": [{ logprobs: true, top_logprobs: 20 }],
  completions: [{ logprobs: 5 }],
  responses: [{ top_logprobs: 20 }, { include: ["message.output_text.logprobs"] }],
};

type Call = (typeof everyCall)[number];

/** Every call that asks for much, with the members that do. */
const largeCalls = everyCall.flatMap((call) => (muchOf[call[0]] ?? []).map((members) => [...call, members] as const));
/** Every call that does not. */
const plainCalls = everyCall.filter(
  ([name]) => muchOf[name]?.some((members) => Object.keys(members).length === 0) !== true,
);

async function expectPaid([name, price, stream]: Call, members: object, reply: FakeAnswer): Promise<void> {
  const { send, server, other, nextEvent, checkBooks, warnings } = await startOperation(name, price, bounds);
  server.reply(reply);
  const ended = nextEvent();
  const response = await send(stream, members);
  expect(response.status).toBe(400);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toMatchObject({ error: { code: "answer_too_large" } });
  const { chargedMicro, heldMicro, usageSource, errorCode, endReason } = await ended;
  // All that the call can cause is what was held.
  expect(chargedMicro).toBe(heldMicro);
  expect(chargedMicro).toBeGreaterThan(0);
  expect(response.headers.get("x-credits-charged")).toBe(String(chargedMicro / 1e6));
  expect({ errorCode, endReason }).toEqual({ errorCode: "answer_too_large", endReason: "upstream_refused" });
  expect(usageSource).toBe("partial");
  expect(warnings.filter(({ code }) => code === "upstream_failed")).toMatchObject([
    { message: expect.stringContaining("5000 bytes") },
  ]);
  expect(other.requests).toEqual([]);
  await checkBooks();
}

async function expectFree([name, price, stream]: Call, reply: FakeAnswer, members: object = {}): Promise<void> {
  const { send, server, other, nextEvent, checkBooks } = await startOperation(name, price, bounds);
  server.reply(reply);
  other.reply(reply);
  const ended = nextEvent();
  const response = await send(stream, members);
  expect(response.status).toBe(502);
  expect(await ended).toMatchObject({ chargedMicro: 0, errorCode: "bad_gateway", endReason: "upstream_failed" });
  expect(other.requests).toHaveLength(1);
  await checkBooks();
}

describe.each(Object.entries(shapes))("%s that is too large to be passed on", (_shape, reply) => {
  it.each(largeCalls)(
    "is paid for, and made once, where it was asked for: %s at %o (streamed: %s) %o",
    async (...call) => {
      const [name, price, stream, members] = call;
      await expectPaid([name, price, stream], members, reply);
    },
  );

  it.each(plainCalls)(
    "is free, and made elsewhere, where nobody asked for it: %s at %o (streamed: %s)",
    async (...call) => {
      await expectFree(call, reply);
    },
  );
});

it.each([
  { logprobs: false, top_logprobs: 0 },
  { logprobs: null, top_logprobs: null },
])("is free where a client writes out that it wants no log probabilities: %o", async (members) => {
  await expectFree(["chat/completions", { input: 1, output: 1 }, false], shapes["a document"] as FakeAnswer, members);
});

describe("an event that is too large to be passed on", () => {
  const event = eventStream([`data: {"x":"${padding}`], { end: "hang" });
  const isOfText = ([name, , stream]: readonly [OperationName, unknown, boolean, ...unknown[]]) =>
    stream && !name.startsWith("images/");

  it.each(largeCalls.filter(isOfText))(
    "is paid for where it was asked for: %s at %o (streamed: %s) %o",
    async (...call) => {
      const [name, price, stream, members] = call;
      await expectPaid([name, price, stream], members, event);
    },
  );

  it.each(plainCalls.filter(isOfText))("is free where nobody asked for it: %s at %o", async (...call) => {
    await expectFree(call, event);
  });

  it("is paid for after others, too, and said in an error event", async () => {
    const { send, server, other, nextEvent, checkBooks } = await startOperation(
      "chat/completions",
      { input: 1, output: 1 },
      bounds,
    );
    const chunk = { id: "a", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "Hi" } }] };
    server.reply(eventStream([chunk, `data: {"x":"${padding}`], { end: "hang" }));
    const ended = nextEvent();
    const response = await send(true, { logprobs: true });
    expect(await response.text()).toContain('"code":"answer_too_large"');
    expect(await ended).toMatchObject({ tokens: { output: 50 }, usageSource: "partial" });
    expect(other.requests).toEqual([]);
    await checkBooks();
  });
});

it("is not charged twice where failed attempts are charged, too", async () => {
  const price = { input: 1, output: 1 };
  const model = { ...modelFor("chat/completions", price), chargeFailedAttempts: true };
  const started = await startOperation("chat/completions", price, { ...bounds, models: [model] });
  const { send, server, other, nextEvent, checkBooks } = started;
  const usage = { prompt_tokens: 9, completion_tokens: 1 };
  const chunk = { id: "a", object: "chat.completion.chunk", choices: [], usage };
  server.reply(eventStream([chunk, `data: "${padding}`], { end: "hang" }));
  const ended = nextEvent();
  await (await send(true, { logprobs: true })).text();
  const { chargedMicro, heldMicro } = await ended;
  // What is held is enough for both targets.
  expect(2 * chargedMicro).toBe(heldMicro);
  expect(other.requests).toEqual([]);
  await checkBooks();
});
