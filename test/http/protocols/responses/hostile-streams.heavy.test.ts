import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { badGateway, isGatewayError } from "../../../../src/errors/gateway-error.js";
import { StreamFault } from "../../../../src/errors/upstream-fault.js";
import type { ResponseEvent } from "../../../../src/protocols/responses/response-events.js";
import type { StreamCodec } from "../../../../src/protocols/shared/stream-codec.js";
import { createEventReader, type ServerSentEvent } from "../../../../src/wire/event-reader.js";
import { wholeOutgoing } from "../../../../src/wire/slices.js";
import { exchangeOf } from "../../../support/operations/responses/exchange-of.js";
import { bothServers, chatServer, type Said } from "../../../support/operations/responses/response-samples.js";
import { parseEvents } from "../../../support/operations/responses/responses-server.js";
import { readBrokenLadder, readLadder } from "../../../support/translate/event-ladder.js";

type Json = Record<string, unknown>;

const runs = Number(process.env["FC_RUNS"] ?? 200);

const said: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ text: fc.string({ unit: "grapheme", maxLength: 20 }), isCut: fc.boolean(), isUncounted: fc.boolean() }),
  fc.record({
    calls: fc.array(
      fc.record({
        id: fc.constantFrom("a", "b"),
        name: fc.constantFrom("get", "set"),
        arguments: fc.json({ maxDepth: 1 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
);

const toEvent = (json: unknown): ServerSentEvent => ({ data: JSON.stringify(json), event: undefined });

/** Runs a stream as the relay does. @returns the client's events, and whether the stream failed. */
function run(codec: StreamCodec, events: readonly ServerSentEvent[]) {
  const sent: Uint8Array[] = [];
  let isBroken = false;
  try {
    for (const event of events) {
      if (codec.progress.isDone) break;
      sent.push(wholeOutgoing(codec.event(event) ?? new Uint8Array()));
    }
    sent.push(wholeOutgoing(codec.end()));
  } catch (error) {
    // Anything else would be a bug of the gateway's.
    if (!(error instanceof StreamFault) && !isGatewayError(error)) throw error;
    isBroken = true;
    sent.push(codec.fault(badGateway("The model's answer broke off.")));
  }
  const client = parseEvents(Buffer.concat(sent).toString()).map(({ data }) => data);
  return { client: client as ResponseEvent[], isBroken };
}

const lasts = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** What every client can read, whatever the upstream does. */
function expectLegal({ client, isBroken }: ReturnType<typeof run>): void {
  const types = client.map(({ type }) => type);
  expect(types.filter((type) => lasts.has(type))).toHaveLength(1);
  expect(types.slice(isBroken ? -2 : -1)).toEqual(
    isBroken ? ["error", "response.failed"] : [expect.stringMatching(/completed|incomplete/)],
  );
  if (isBroken) expect(client.at(-1)?.sequence_number).toBe((client.at(-2)?.sequence_number ?? -9) + 1);
}

describe.each(bothServers)("a stream of $name", (kind) => {
  it("that stops anywhere ends as a stream that clients can read", async () => {
    await fc.assert(
      fc.asyncProperty(said, fc.nat(), async (what, stop) => {
        const events = kind.events(what);
        const length = stop % (events.length + 1);
        const outcome = run((await exchangeOf(kind)).readStream(), events.slice(0, length).map(toEvent));
        expectLegal(outcome);
        if (!outcome.isBroken) readLadder(outcome.client);
        else if (length > 1 || kind === chatServer) {
          const begun = readBrokenLadder(outcome.client);
          const { response } = (outcome.client.at(-1) ?? {}) as { response?: { output: { id: string }[] } };
          // What was translated is known as far as it came.
          if (kind === chatServer) expect(response?.output.map(({ id }) => id)).toEqual(begun);
        }
      }),
      { numRuns: runs },
    );
  });

  it("comes to the same, wherever its bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(said, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), async (what, sizes) => {
        const events = kind.events(what);
        const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
        const reader = createEventReader(1e6);
        const read: ServerSentEvent[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          read.push(...reader.read(bytes.subarray(at, at + size)));
          at += size;
        }
        const [cut, plain] = [(await exchangeOf(kind)).readStream(), (await exchangeOf(kind)).readStream()];
        expect(run(cut, read)).toEqual(run(plain, events.map(toEvent)));
      }),
      { numRuns: runs / 4 },
    );
  });

  it("that an upstream has spoiled is legal for the client all the same", async () => {
    const spoiled = fc.constantFrom<unknown>(
      ...[
        null,
        0,
        "",
        "x",
        [],
        {},
        -1,
        Number.POSITIVE_INFINITY,
        "\ud800",
        { toString: 1 },
        [null],
        "response.completed",
        "error",
      ],
    );
    const change = fc.record({
      at: fc.nat(),
      kind: fc.constantFrom("drop", "twice", "swap", "spoil", "spoil", "spoil", "insert"),
      path: fc.array(fc.nat(), { maxLength: 4 }),
      value: spoiled,
    });
    await fc.assert(
      fc.asyncProperty(said, fc.array(change, { minLength: 1, maxLength: 3 }), async (what, changes) => {
        const events = structuredClone(kind.events(what)) as unknown[];
        for (const each of changes) spoil(events, each);
        expectLegal(run((await exchangeOf(kind)).readStream(), events.map(toEvent)));
      }),
      { numRuns: runs * 3 },
    );
  });

  it("that is text of any kind is legal for the client all the same", async () => {
    const data = fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc.string(),
      fc.constantFrom("[DONE]", "null", "{}", '{"error":{}}'),
    );
    const name = fc.option(fc.constantFrom("error", "response.completed", "x"), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ data, event: name }), { maxLength: 4 }), async (events) => {
        expectLegal(run((await exchangeOf(kind)).readStream(), events));
      }),
      { numRuns: runs },
    );
  });
});

interface Change {
  at: number;
  kind: string;
  path: readonly number[];
  value: unknown;
}

function spoil(events: unknown[], { at, kind, path, value }: Change): void {
  if (events.length === 0) return;
  const place = at % events.length;
  if (kind === "drop") events.splice(place, 1);
  else if (kind === "twice") events.splice(place, 0, structuredClone(events[place]));
  else if (kind === "swap") events.push(...events.splice(place, 1));
  else if (kind === "insert") events.splice(place, 0, structuredClone(value));
  else spoilMember(events[place], path, value);
}

/** Puts the value somewhere within an event. */
function spoilMember(within: unknown, [step = 0, ...path]: readonly number[], value: unknown): void {
  if (typeof within !== "object" || within === null) return;
  const names = Object.keys(within);
  const name = names[step % Math.max(1, names.length)];
  if (name === undefined) return;
  const inner = (within as Json)[name];
  if (path.length > 0 && typeof inner === "object" && inner !== null) spoilMember(inner, path, value);
  else (within as Json)[name] = structuredClone(value);
}
