import { describe, expect, it } from "vitest";
import { handle, requireMountable } from "../../../../src/gateway/gateway.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { createGate, errorBody, eventStream, hangAfterHeaders, hangBeforeHeaders } from "../../../../src/testing.js";
import { bothServers, type SampleServer } from "../../../support/operations/responses/response-samples.js";
import {
  parseEvents,
  type ReadEvent,
  type ResponsesServer,
  readResponseEvents,
  refusalOf,
  requestText,
  startResponses,
  withResponses,
} from "../../../support/operations/responses/responses-server.js";

const textLadder = [
  "response.created",
  "response.in_progress",
  "response.output_item.added",
  "response.content_part.added",
  "response.output_text.delta",
  "response.output_text.delta",
  "response.output_text.done",
  "response.content_part.done",
  "response.output_item.done",
  "response.completed",
];

const callLadder = [
  "response.created",
  "response.in_progress",
  "response.output_item.added",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.output_item.done",
  "response.completed",
];

/** Each event under its own name, numbered from 0 without a gap. */
function expectWellFormed(events: readonly ReadEvent[]): void {
  expect(events.map(({ name }) => name)).toEqual(events.map(({ data }) => data.type));
  expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_event, index) => index));
}

const typesOf = (events: readonly ReadEvent[]) => events.map(({ data }) => data.type);
const deltasOf = (events: readonly ReadEvent[]) => events.map(({ data }) => data["delta"] ?? "").join("");

/** Reads a stream as far as needed, and then the rest of it. */
function readerOf(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async () => {
    const { done, value = "" } = (await reader?.read()) ?? { done: true };
    text += value;
    return !done;
  };
  return {
    until: async (wanted: string) => {
      while (!text.includes(wanted)) if (!(await next())) throw new Error(`It ended before ${wanted}: ${text}`);
    },
    rest: async () => {
      while (await next());
      return text;
    },
    cancel: () => reader?.cancel(),
  };
}

/** Has the upstream stream up to its first words. */
async function openStream(server: ResponsesServer, target: SampleServer, signal?: AbortSignal) {
  const gate = createGate();
  server.upstream.replyOnce(target.stream({ text: "Hello wide world" }, { gate }));
  gate.step(1 + target.pieces.beforeText);
  const response = await server.post({ stream: true }, signal === undefined ? {} : { signal });
  const reader = readerOf(response);
  gate.step(1);
  await reader.until("Hello");
  return { gate, reader };
}

describe.each(bothServers)("a stream of $name", (target) => {
  it(
    "has all events of its text, and is charged by what the last one says",
    withResponses(target, async (server) => {
      const response = await server.post({ stream: true });
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-ratelimit-remaining-session": "100",
      });
      const events = await readResponseEvents(response);
      expectWellFormed(events);
      expect(typesOf(events)).toEqual(textLadder);
      expect(deltasOf(events)).toBe("Hello world");
      const snapshots = events.flatMap(({ data }) => (data["response"] === undefined ? [] : [data["response"]]));
      const id = (snapshots[0] as { id: string }).id;
      expect(id).toMatch(/^resp_[0-9a-f]{32}$/);
      for (const each of snapshots) expect(each).toMatchObject({ id, model: "acme/small", store: true });
      expect(snapshots.at(-1)).toMatchObject({
        status: "completed",
        output: [{ type: "message", status: "completed", content: [{ text: "Hello world", annotations: [] }] }],
        usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
      });
      expect(server.events).toMatchObject([
        { stream: true, endpoint: "responses", chargedMicro: 39, usageSource: "provider", endReason: "completed" },
      ]);
    }),
  );

  it(
    "has all events of its calls",
    withResponses(target, async (server) => {
      server.upstream.reply(target.stream({ calls: [{ id: "call_1", name: "weather", arguments: '{"a":1}' }] }));
      const tools = [{ type: "function", name: "weather", parameters: { type: "object" } }];
      const events = await readResponseEvents(await server.post({ stream: true, tools }));
      expectWellFormed(events);
      expect(typesOf(events)).toEqual(callLadder);
      expect(events.at(-1)?.data["response"]).toMatchObject({
        output: [{ type: "function_call", call_id: "call_1", name: "weather", arguments: '{"a":1}' }],
      });
    }),
  );

  it(
    "may arrive byte by byte",
    withResponses(target, async (server) => {
      server.upstream.reply(target.stream({ text: "Grüße 👋 Welt" }, { pieceBytes: 1 }));
      expect(deltasOf(await readResponseEvents(await server.post({ stream: true })))).toBe("Grüße 👋 Welt");
    }),
  );

  it(
    "passes each piece before the next one arrives",
    withResponses(target, async (server) => {
      const { gate, reader } = await openStream(server, target);
      gate.step(1);
      await reader.until(" wide");
      gate.open();
      expect(typesOf(parseEvents(await reader.rest())).at(-1)).toBe("response.completed");
      expect(server.events).toMatchObject([{ endReason: "completed", usageSource: "provider" }]);
    }),
  );

  it(
    "is charged by an estimate where nothing was counted, and says the same to the client",
    withResponses(target, async (server) => {
      server.upstream.reply(target.stream({ isUncounted: true }));
      const events = await readResponseEvents(await server.post({ stream: true }));
      const { usage } = (events.at(-1)?.data["response"] ?? {}) as { usage?: Record<string, number> };
      const { input_tokens: input = 0, output_tokens: output = 0 } = usage ?? {};
      expect(input).toBeGreaterThan(3);
      expect(output).toBe(2);
      expect(server.events).toMatchObject([{ usageSource: "estimated", chargedMicro: input + 10 * output }]);
    }),
  );

  it(
    "that was cut off is incomplete",
    withResponses(target, async (server) => {
      server.upstream.reply(target.stream({ isCut: true }));
      const last = (await readResponseEvents(await server.post({ stream: true }))).at(-1)?.data;
      expect(last).toMatchObject({
        type: "response.incomplete",
        response: {
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
          usage: { total_tokens: 12 },
        },
      });
      expect(server.events).toMatchObject([{ endReason: "completed", chargedMicro: 39 }]);
    }),
  );

  it(
    "is made of a whole response when the upstream does not stream",
    withResponses(target, async (server) => {
      server.upstream.reply(target.whole());
      const events = await readResponseEvents(await server.post({ stream: true }));
      expectWellFormed(events);
      expect([...new Set(typesOf(events))]).toEqual([...new Set(textLadder)]);
      expect(deltasOf(events)).toBe("Hello world");
      expect(server.events).toMatchObject([{ endReason: "completed", chargedMicro: 39, usageSource: "provider" }]);
    }),
  );

  it.each(["end", "cut", "reset"] as const)(
    "that its upstream breaks off (%s) ends with both events of a failure, and costs what came",
    async (end) => {
      await withResponses(target, async (server) => {
        const gate = createGate();
        server.upstream.reply(target.stream({ isBroken: true }, { gate, end, done: false }));
        gate.step(2 + target.pieces.beforeText);
        const reader = readerOf(await server.post({ stream: true }));
        // A reset may swallow what was written just before it.
        await reader.until("Hello");
        gate.open();
        const events = parseEvents(await reader.rest());
        expectWellFormed(events);
        const said = { code: "server_error", message: expect.stringContaining("broke off") };
        expect(events.slice(-2).map(({ data }) => data)).toMatchObject([
          { type: "error", ...said, param: null, error: { type: "server_error", ...said, param: null } },
          { type: "response.failed", response: { status: "failed", model: "acme/small", error: said } },
        ]);
        expect(server.events).toMatchObject([
          { status: 200, errorCode: "bad_gateway", usageSource: "partial", endReason: "upstream_failed" },
        ]);
        expect(server.events[0]?.chargedMicro).toBeGreaterThan(0);
      })();
    },
  );

  it(
    "that fails before its first event is a status",
    withResponses(target, async (server) => {
      const said = errorBody("Too long for the maximum context length", { code: "context_length_exceeded" });
      server.upstream.reply(eventStream([said], { done: false }));
      const refusal = await refusalOf(await server.post({ stream: true }));
      expect(refusal).toMatchObject({ status: 400, code: "context_length_exceeded", param: "input" });
      expect(server.events).toMatchObject([{ chargedMicro: 0, status: 400 }]);
    }),
  );

  it(
    "that is none is a status",
    withResponses(target, async (server) => {
      server.upstream.reply(eventStream(["data: [1]\n\n"], { done: false }));
      expect(await refusalOf(await server.post({ stream: true }))).toMatchObject({ status: 502 });
    }),
  );

  it.each([
    ["never begins", hangBeforeHeaders(), { firstByteTimeoutMs: 50 }],
    ["falls silent at once", hangAfterHeaders(), { idleTimeoutMs: 50 }],
  ])("that %s is a 504", async (_name, answer, upstreamTimeouts) => {
    await withResponses(
      target,
      async (server) => {
        server.upstream.reply(answer);
        expect(await refusalOf(await server.post({ stream: true }))).toMatchObject({ status: 504 });
        expect(server.events).toMatchObject([{ chargedMicro: 0, endReason: "upstream_timeout" }]);
      },
      { upstreamTimeouts },
    )();
  });

  it(
    "that falls silent in between ends with both events of a failure",
    withResponses(
      target,
      async (server) => {
        server.upstream.reply(target.stream({ isBroken: true }, { end: "hang" }));
        const events = await readResponseEvents(await server.post({ stream: true }));
        expectWellFormed(events);
        expect(typesOf(events).slice(-2)).toEqual(["error", "response.failed"]);
        expect(server.events).toMatchObject([{ endReason: "upstream_timeout", usageSource: "partial" }]);
      },
      { upstreamTimeouts: { idleTimeoutMs: 100 } },
    ),
  );

  it(
    "stops its upstream and is charged by what was seen when its client leaves",
    withResponses(target, async (server) => {
      const leaving = new AbortController();
      await openStream(server, target, leaving.signal);
      const event = server.nextEvent();
      leaving.abort();
      expect(await event).toMatchObject({ endReason: "client_gone", disconnect: "cancelled", usageSource: "partial" });
      expect(server.events[0]?.tokens.output).toBeGreaterThan(0);
      expect(server.events[0]?.chargedMicro).toBeGreaterThan(10);
      expect(await server.upstream.lastRequest.closed).toBe("broken");
    }),
  );

  it(
    "before whose upstream's status the client leaves costs the prompt",
    withResponses(target, async (server) => {
      server.upstream.reply(hangBeforeHeaders());
      const leaving = new AbortController();
      const response = server.post({ stream: true }, { signal: leaving.signal }).catch(() => undefined);
      await server.upstream.nextRequest();
      const event = server.nextEvent();
      leaving.abort();
      await response;
      const { tokens, chargedMicro } = await event;
      expect(tokens).toMatchObject({ output: 0, reasoning: 0 });
      expect(tokens.input).toBeGreaterThan(3);
      expect(chargedMicro).toBe(tokens.input);
    }),
  );

  it(
    "is read to its end for a client that has left, where the plan says so",
    withResponses(
      target,
      async (server) => {
        const leaving = new AbortController();
        const { gate } = await openStream(server, target, leaving.signal);
        const event = server.nextEvent();
        leaving.abort();
        await expect.poll(() => server.closed(), { interval: 5 }).toBe(1);
        gate.open();
        expect(await event).toMatchObject({
          endReason: "client_gone",
          disconnect: "drained",
          usageSource: "provider",
          chargedMicro: 39,
        });
      },
      { plans: memoryPlanStore({ pro: { models: ["acme/*"], disconnect: "drain" } }) },
    ),
  );

  it(
    "ends with both events of a failure when the gateway closes, and is charged by what was seen",
    withResponses(
      target,
      async (server) => {
        const { reader } = await openStream(server, target);
        const rest = reader.rest();
        await server.gateway.close();
        const events = parseEvents(await rest);
        expectWellFormed(events);
        expect(events.slice(-2).map(({ data }) => data)).toMatchObject([
          { type: "error", code: "server_error", message: expect.stringContaining("shutting down") },
          { type: "response.failed", response: { status: "failed" } },
        ]);
        expect(server.events).toMatchObject([{ endReason: "shutdown", usageSource: "partial" }]);
      },
      { closeGraceMs: 0 },
    ),
  );

  it("is over for the upstream when an adapter takes no more of it", async () => {
    const server = await startResponses(target);
    const gate = createGate();
    server.upstream.reply(target.stream({}, { gate }));
    gate.step(1 + target.pieces.beforeText + 1);
    const headers: Record<string, string> = { authorization: "Bearer sk-pro", "content-type": "application/json" };
    const { body } = await requireMountable("test", server.gateway)[handle]({
      method: "POST",
      path: "/v1/responses",
      header: (name) => headers[name],
      body: async () => new TextEncoder().encode(requestText({ stream: true })),
      bodyInPieces: async () => [],
      signal: new AbortController().signal,
    });
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await pieces.next();
    await pieces.return?.();
    expect(server.events).toMatchObject([{ endReason: "client_gone", usageSource: "partial" }]);
    expect(await server.upstream.lastRequest.closed).toBe("broken");
    await server.close();
  });
});
