import type { ServerResponse } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { eventStream, type FakeAnswer, wholeAnswer } from "../../../src/testing.js";
import { expectNoSockets } from "../../clients/start-server.js";
import { everyCall, modelFor, startOperation } from "./any-operation.js";

afterAll(expectNoSockets);

const bounds = { maxAnswerBytes: 5000, maxEventBytes: 5000 };
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

async function expectPaid(
  [name, price, stream]: (typeof everyCall)[number],
  reply: FakeAnswer,
  options: object = {},
): Promise<void> {
  const { send, server, other, nextEvent, checkBooks, warnings } = await startOperation(name, price, {
    ...bounds,
    ...options,
  });
  server.reply(reply);
  const ended = nextEvent();
  const response = await send(stream);
  expect(response.status).toBe(400);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toMatchObject({ error: { code: "answer_too_large" } });
  const { chargedMicro, heldMicro, usageSource, errorCode, endReason } = await ended;
  // All that the call can cause is what was held.
  expect(chargedMicro).toBe(heldMicro);
  expect(chargedMicro).toBeGreaterThan(0);
  expect(response.headers.get("x-credits-charged")).toBe(String(chargedMicro / 1e6));
  expect({ errorCode, endReason }).toEqual({ errorCode: "answer_too_large", endReason: "upstream_refused" });
  // The characters of speech, and that it is one call, are known.
  const isKnown = name === "audio/speech" && ("characters" in price || "request" in price);
  expect(usageSource).toBe(isKnown ? "provider" : "partial");
  expect(warnings.filter(({ code }) => code === "upstream_failed")).toMatchObject([
    { message: expect.stringContaining("5000 bytes") },
  ]);
  expect(other.requests).toEqual([]);
  await checkBooks();
}

describe.each(Object.entries(shapes))("%s that is too large to be passed on", (_shape, reply) => {
  it.each(everyCall)("is paid for, and made once: %s at %o (streamed: %s)", async (...call) => {
    await expectPaid(call, reply);
  });
});

describe("an event that is too large to be passed on", () => {
  const streams = everyCall.filter(([name, _price, stream]) => stream && !name.startsWith("images/"));

  it.each(streams)("is paid for, and made once: %s at %o", async (...call) => {
    await expectPaid(call, eventStream([`data: {"x":"${padding}`], { end: "hang" }));
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
    const response = await send(true);
    expect(await response.text()).toContain('"code":"answer_too_large"');
    expect(await ended).toMatchObject({ tokens: { output: 50 }, usageSource: "partial" });
    expect(other.requests).toEqual([]);
    await checkBooks();
  });
});

it("is not charged twice where failed attempts are charged, too", async () => {
  const price = { input: 1, output: 1 };
  const model = { ...modelFor("messages", price), chargeFailedAttempts: true };
  const { send, server, nextEvent, checkBooks } = await startOperation("messages", price, {
    ...bounds,
    models: [model],
  });
  const usage = { input_tokens: 9, output_tokens: 1 };
  const message = { id: "a", type: "message", role: "assistant", model: "a", content: [], usage };
  server.reply(
    eventStream(
      [`event: message_start\ndata: ${JSON.stringify({ type: "message_start", message })}`, `data: "${padding}`],
      {
        end: "hang",
      },
    ),
  );
  const ended = nextEvent();
  await (await send(true)).text();
  const { chargedMicro, heldMicro } = await ended;
  // What is held is enough for both targets.
  expect(2 * chargedMicro).toBe(heldMicro);
  await checkBooks();
});
