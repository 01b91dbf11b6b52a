import { describe, expect, it, onTestFinished } from "vitest";
import { AbortNotifier } from "../../../src/call/abort-notifier.js";
import { type DepartedCall, Departure } from "../../../src/call/departure.js";
import { Meter, type MeteredCall } from "../../../src/call/meter.js";
import type { AbortReason } from "../../../src/call/open-calls.js";
import { StreamBody } from "../../../src/call/relay/respond-with-stream.js";
import { StreamRelay } from "../../../src/call/relay/stream-relay.js";
import type { Outcome } from "../../../src/events/request-observer.js";
import type { UsageSource } from "../../../src/prices/charge.js";
import { ChatCodec } from "../../../src/protocols/chat/chat-codec.js";
import type { Dialect } from "../../../src/protocols/shared/dialect.js";
import { ReceivedBody } from "../../../src/providers/transport/undici-response.js";
import { readPiece } from "../../../src/wire/piece-source.js";
import { answerContext } from "../../support/answer-context.js";

const encoder = new TextEncoder();
const event = (data: object | string): Uint8Array =>
  encoder.encode(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
const chunk = (content: string, finish: string | null = null): Uint8Array =>
  event({ id: "1", choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: finish }] });
const whole = [chunk("a"), chunk("b", "stop"), event("[DONE]")];

function open(
  body: unknown,
  { finish = () => {}, dialect }: { finish?: (outcome: Outcome) => unknown; dialect?: Dialect } = {},
) {
  const outcomes: (Outcome & { source: UsageSource | undefined })[] = [];
  const notice = new AbortNotifier();
  const limits = { keepAliveMs: 60_000, maxEventBytes: 1e6, maxResponseBytes: 1e6, maxResponseMs: undefined };
  const call = {
    abortReason: undefined as AbortReason | undefined,
    abort(reason: AbortReason): void {
      call.abortReason ??= reason;
      notice.abort();
    },
    services: { limits },
  };
  const metered: MeteredCall = {
    request: { asksToReason: () => false } as MeteredCall["request"],
    demand: { promptTokens: 1, heldPromptTokens: 1, promptBound: undefined, outputTokens: 100, addedCap: undefined },
    model: { reasons: false },
  };
  const meter = new Meter(metered, { now: () => 0 });
  const attempt = {
    ...{ call, meter, notice },
    holdsStatus: false,
    end: async (outcome: Outcome) => {
      outcomes.push({ ...outcome, source: meter.bill(outcome.reason, false)?.source });
      return finish(outcome);
    },
  };
  const codec = new ChatCodec(answerContext({ dialect }), false);
  const relay = new StreamRelay(attempt, codec, body as AsyncIterable<Uint8Array>);
  return { relay, outcomes, call };
}

/** All that a client gets, or what it is told instead. */
async function read(relay: StreamRelay): Promise<string> {
  let text = "";
  try {
    for await (const piece of relay) text += Buffer.from(piece).toString();
    return text;
  } catch (error) {
    return `${text}thrown: ${(error as Error).message}`;
  }
}

/** A body of which `next` is called again and again. */
const bodyOf = (next: (count: number) => unknown): unknown => {
  let count = 0;
  return { [Symbol.asyncIterator]: () => ({ next: () => next(count++) }) };
};

describe("StreamRelay", () => {
  const faulty: Record<string, unknown> = {
    "no body at all": undefined,
    "a body that throws when it is begun": {
      [Symbol.asyncIterator]: () => {
        throw new Error("not today");
      },
    },
    "a body without an iterator": { [Symbol.asyncIterator]: () => null },
    "a next() that throws": bodyOf(() => {
      throw new Error("not today");
    }),
    "a next() that gives nothing": bodyOf(async () => undefined),
    "a next() that gives null": bodyOf(() => null),
    "a result that cannot be read": bodyOf(async () => ({
      get done() {
        throw new Error("not today");
      },
    })),
    "a piece that is none": bodyOf(async () => ({ done: false, value: undefined })),
    "a return() that throws": {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: event("garbage") }),
        return: () => {
          throw new Error("not today");
        },
      }),
    },
    "an error that is hard to read": [
      event({ error: { message: [{ loc: [{ toString: 1 }, "n"], msg: "It is wrong." }] } }),
    ],
  };
  it.each(Object.keys(faulty))("makes a failure of %s", async (name) => {
    const { relay, outcomes } = open(faulty[name]);
    expect(await read(relay)).toMatch(/^thrown: ./);
    expect(outcomes).toMatchObject([{ source: undefined }]);
    expect(await relay.next()).toEqual({ done: true, value: undefined });
  });

  it("makes an error event of what comes to nothing behind the first piece", async () => {
    const { relay, outcomes } = open(bodyOf(async (count) => (count === 0 ? { value: chunk("a") } : undefined)));
    expect(await read(relay)).toMatch(/"content":"a".*"code":"bad_gateway"/s);
    expect(outcomes).toMatchObject([{ reason: "upstream_failed", source: "partial" }]);
  });

  it("keeps the upstream's words where a host's own reading of them fails", async () => {
    const readers = [
      () => undefined,
      () => {
        throw new Error("not today");
      },
    ];
    for (const readError of readers) {
      const dialect = { readError } as unknown as Dialect;
      const { relay, outcomes } = open([event({ error: { message: "The value is too large.", code: 400 } })], {
        dialect,
      });
      expect(await read(relay)).toContain("The value is too large.");
      expect(outcomes).toHaveLength(1);
    }
  });

  it.each([
    ["a list", whole],
    [
      "a generator",
      (function* () {
        yield* whole;
      })(),
    ],
    ["results that are no promises", bodyOf((count) => (count < 3 ? { value: whole[count] } : { done: true }))],
  ])("takes a body that is %s, as for await would", async (_name, body) => {
    const { relay, outcomes } = open(body);
    expect(await read(relay)).toMatch(/"content":"a".*"content":"b".*\[DONE\]/s);
    expect(outcomes).toMatchObject([{ reason: "completed" }]);
  });

  it("gives the first piece at once, and what else comes in the same tick together, up to a bound", async () => {
    const count = 300;
    const events = Array.from({ length: count }, (_, index) => chunk(`word ${index} ${"x".repeat(100)}`));
    const { relay } = open(
      (async function* () {
        yield* events;
        await new Promise((resolve) => setImmediate(resolve));
        yield* [chunk("late", "stop"), event("[DONE]")];
      })(),
    );
    const pieces: string[] = [];
    for await (const piece of relay) pieces.push(Buffer.from(piece).toString());
    expect(pieces[0]?.split("\n\n")).toHaveLength(2);
    expect(pieces.join("").split('"content":"word').length).toBe(count + 1);
    const most = Math.max(...pieces.map((piece) => piece.length));
    expect(most).toBeGreaterThan(15 * 1024);
    expect(most).toBeLessThan(16 * 1024);
    expect(pieces.length).toBeLessThan(10);
    // What comes in another tick waits for nothing that comes later.
    expect(pieces.at(-2)).toContain('"content":"late"');
  });

  it("reads no more than one piece ahead of a client that takes nothing", async () => {
    let given = 0;
    const { relay } = open(
      bodyOf(async () => {
        given++;
        return { done: false, value: chunk("x".repeat(1000)) };
      }),
    );
    for (let read = 0; read < 3; read++) await relay.next();
    const before = given;
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(given - before).toBeLessThanOrEqual(1);
    await relay.return();
  });

  it("makes a failure of a body that its provider's own code reads, too", async () => {
    const received = new ReceivedBody({ resume() {}, release() {} });
    const { relay, outcomes } = open(received);
    received.push(chunk("a"));
    expect((await relay.next()).done).toBe(false);
    const theirs = received.next();
    // Called by an event of the client's connection: what it throws would end the process.
    const said = new Promise<string>((resolve) => {
      const took = (piece: Uint8Array) => resolve(Buffer.from(piece).toString());
      relay[readPiece]({ took, ended: () => resolve("ended"), failed: (error) => resolve(String(error)) });
    });
    expect(await said).toContain('"code":"bad_gateway"');
    expect(outcomes).toMatchObject([{ reason: "upstream_failed", source: "partial" }]);
    expect((await theirs).done).toBe(true);
  });

  it("loses no promise when it is read twice at once", async () => {
    const { relay } = open(whole);
    const first = relay.next();
    await expect(relay.next()).rejects.toThrow(TypeError);
    expect((await first).done).toBe(false);
    await relay.return();
  });

  it("has settled, once, when its reader is told that it has ended", async () => {
    const log: string[] = [];
    let settle = () => {};
    const finish = () => new Promise<void>((resolve) => (settle = resolve)).then(() => void log.push("settled"));
    const { relay, outcomes } = open(whole, { finish });
    await relay.next();
    await relay.next();
    const pending = relay.next().then(() => log.push("next"));
    await new Promise((resolve) => setImmediate(resolve));
    const left = relay.return().then(() => log.push("left"));
    const again = relay.return().then(() => log.push("left again"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual([]);
    settle();
    await Promise.all([pending, left, again]);
    expect(log).toEqual(["settled", "next", "left", "left again"]);
    expect(outcomes).toMatchObject([{ reason: "completed" }]);
  });

  it("lets whoever waits go when its reader leaves meanwhile", async () => {
    let returned = 0;
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: async () => {
          returned++;
          return { done: true, value: undefined };
        },
      }),
    };
    const { relay, outcomes, call } = open(body);
    const pending = relay.next();
    await relay.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(outcomes).toMatchObject([{ reason: "client_gone" }]);
    expect([returned, call.abortReason]).toEqual([1, "client_gone"]);
  });

  it("rejects with what a settlement fails by, and with nothing that nobody hears of", async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown) => unheard.push(error);
    process.on("unhandledRejection", hear);
    onTestFinished(() => void process.off("unhandledRejection", hear));
    for (const body of [whole, [event("garbage")]]) {
      const finish = () => {
        throw new Error("The accounts are closed.");
      };
      expect(await read(open(body, { finish }).relay)).toContain("thrown: The accounts are closed.");
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(unheard).toEqual([]);
  });
});

describe("StreamBody", () => {
  const departedCall = (): DepartedCall => ({ abortReason: undefined, awaitsUsage: false, abort: () => {} });
  const leaves = (departure: Departure) => ({
    departure,
    clientLeft: () => {
      departure.clientGone();
      return departure;
    },
  });

  it("lets a stream go whose call has ended already when its client leaves", async () => {
    const departure = new Departure({ maxMs: 1000, maxTokens: 10 }, departedCall());
    let isReturned = false;
    const { relay } = open({
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: chunk("a") }),
        return: async () => {
          isReturned = true;
          return { done: true, value: undefined };
        },
      }),
    });
    const body = new StreamBody(leaves(departure), relay);
    await body.next();
    departure.ended({ reason: "shutdown" });
    await body.return();
    expect(isReturned).toBe(true);
  });

  it("gives the client the piece that it waits for when it leaves; the rest is read after it", async () => {
    const departure = new Departure({ maxTokens: 100, maxMs: 60_000 }, departedCall());
    const asked: ((result: IteratorResult<Uint8Array>) => void)[] = [];
    const { relay, outcomes } = open(
      bodyOf(() => new Promise<IteratorResult<Uint8Array>>((resolve) => asked.push(resolve))),
    );
    const body = new StreamBody(leaves(departure), relay);
    let rest: Promise<void> | undefined;
    departure.whenLeft(() => {
      rest = relay.readOn(departure);
    });
    const waiting = body.next();
    departure.clientGone();
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect(asked).toHaveLength(1);
    asked[0]?.({ done: false, value: chunk("a", "stop") });
    expect(Buffer.from((await waiting).value ?? []).toString()).toContain('"content":"a"');
    expect(await body.next()).toEqual({ done: true, value: undefined });
    await turn();
    expect(asked).toHaveLength(2);
    asked[1]?.({ done: true, value: undefined });
    await rest;
    expect(outcomes).toMatchObject([{ reason: "completed" }]);
    departure.ended({ reason: "completed" });
  });
});
