import { afterAll, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import { createGate, type Gate, hangAfterHeaders, hangBeforeHeaders } from "../../../../src/testing.js";
import { expectNoSockets, promptAlone, type ServerOptions } from "../../../e2e/clients/start-server.js";
import { bothTargets, type MessagesServerKind } from "../../../support/operations/messages/message-samples.js";
import { type MessagesServer, withMessages } from "../../../support/operations/messages/messages-server.js";
import { smallModel } from "../../../support/test-gateway.js";

afterAll(expectNoSockets);

function withModel(model: Partial<Model>): ServerOptions {
  return { models: [{ ...smallModel, ...model }] };
}

interface Caller {
  /** Reads on until this has come. */
  until(text: string): Promise<void>;
  leave(): void;
}

/** A client that takes a stream, which has come up to so many pieces of the upstream's. */
async function openStream(
  server: MessagesServer,
  target: MessagesServerKind,
  pieces: number,
): Promise<Caller & { gate: Gate }> {
  const gate = createGate();
  server.upstream.replyOnce(target.stream({}, { gate }));
  gate.step(1 + pieces);
  const leaving = new AbortController();
  const response = await server.post({ stream: true }, { signal: leaving.signal });
  const reader = response.body?.getReader();
  let read = "";
  const until = async (text: string) => {
    while (!read.includes(text)) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) throw new Error(`The stream ended before ${text}: ${read}`);
      read += Buffer.from(piece.value).toString();
    }
  };
  return { gate, until, leave: () => leaving.abort() };
}

/** Resolves when the gateway's server knows that its client has left. */
function hasNoticed(server: MessagesServer): Promise<void> {
  return vi.waitFor(() => expect(server.closed()).toBe(1), { interval: 2, timeout: 10_000 });
}

/** What a client has when so many pieces of text have come. */
const places: readonly [name: string, more: number, last: string][] = [
  ["its first word", 0, '"Hello"'],
  ["all of the text", 1, '" world"'],
];

describe.each(bothTargets)("a client of Messages that leaves, in front of $name,", (target) => {
  it.each([
    ["before the upstream's status", hangBeforeHeaders()],
    ["before its first event", hangAfterHeaders()],
  ])("%s pays for the prompt", (_place, answer) =>
    withMessages(target, async (server) => {
      server.upstream.reply(answer);
      for (const stream of [false, true]) {
        const leaving = new AbortController();
        const response = server.post({ stream }, { signal: leaving.signal });
        const sent = await server.upstream.nextRequest();
        leaving.abort();
        await expect(response).rejects.toThrow();
        expect(await sent.closed).toBe("broken");
      }
      await server.checkBooks();
      for (const event of server.events) {
        expect(event).toMatchObject({ endpoint: "messages", disconnect: "cancelled", ...promptAlone });
      }
    })(),
  );

  it.each(places)(
    "behind %s pays for the prompt and what it saw, and the upstream is broken off",
    (_place, more, last) =>
      withMessages(target, async (server) => {
        const { until, leave } = await openStream(server, target, target.piecesToText + more);
        await until(last);
        leave();
        expect(await server.upstream.lastRequest.closed).toBe("broken");
        await server.checkBooks();
        const [event] = server.events;
        expect(event).toMatchObject({ endReason: "client_gone", disconnect: "cancelled", usageSource: "partial" });
        const { input = 0, output = 0 } = event?.tokens ?? {};
        expect(output).toBe(more === 0 ? 1 : 2);
        if (target.path === "/v1/messages") expect(input).toBe(9);
        else expect(input).toBeGreaterThan(9);
        expect(event?.chargedMicro).toBe(input + 10 * output);
      })(),
  );

  it.each(places)("behind %s pays exactly, where the rest is read to its end", (_place, more, last) =>
    withMessages(
      target,
      async (server) => {
        const { until, leave, gate } = await openStream(server, target, target.piecesToText + more);
        await until(last);
        leave();
        await hasNoticed(server);
        gate.open();
        await server.checkBooks();
        expect(server.events).toMatchObject([
          { endReason: "client_gone", disconnect: "drained", usageSource: "provider", chargedMicro: 39 },
        ]);
      },
      withModel({ disconnect: "drain" }),
    )(),
  );

  it(
    "while the whole message is written pays exactly, where it is read to its end",
    withMessages(
      target,
      async (server) => {
        const gate = createGate();
        server.upstream.reply(async (request, response) => {
          await gate.pass();
          return target.whole()(request, response);
        });
        const leaving = new AbortController();
        const response = server.post({}, { signal: leaving.signal });
        await server.upstream.nextRequest();
        leaving.abort();
        await expect(response).rejects.toThrow();
        await hasNoticed(server);
        gate.open();
        await server.checkBooks();
        expect(server.events).toMatchObject([{ disconnect: "drained", usageSource: "provider", chargedMicro: 39 }]);
      },
      withModel({ disconnect: "drain" }),
    ),
  );

  it(
    "behind the last event pays as if it had stayed",
    withMessages(target, async (server) => {
      const { until, leave, gate } = await openStream(server, target, 1);
      gate.open();
      await until("event: message_stop");
      leave();
      await server.checkBooks();
      expect(server.events).toMatchObject([{ endReason: "completed", chargedMicro: 39 }]);
    }),
  );

  it(
    "is cut off with an error event when the gateway is closed",
    withMessages(target, async (server) => {
      const { until } = await openStream(server, target, target.piecesToText);
      await until('"Hello"');
      const closing = server.gateway.close();
      await until("event: error");
      await until('"type":"overloaded_error"');
      await closing;
      await server.checkBooks();
      expect(server.events).toMatchObject([{ errorCode: "service_unavailable", usageSource: "partial" }]);
      const refused = await server.post();
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
    }),
  );
});
