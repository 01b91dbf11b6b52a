import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEventReader } from "../../../src/wire/event-reader.js";
import { readPlainEvent } from "../../../src/wire/plain-event.js";

const piece = fc.oneof(
  fc.constantFrom(
    "data: ",
    "data:",
    "event: ",
    "event:",
    "id: 1",
    ": x",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "{}",
    "\u0000",
    " ",
  ),
  fc.string({ unit: "grapheme", maxLength: 4 }),
);
const anything = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((pieces) => Buffer.from(pieces.join(""))),
  fc
    .tuple(
      fc.constantFrom("", "event: a\n", "event: \n"),
      fc.uint8Array({ maxLength: 8 }),
      fc.constantFrom("\n\n", "\n"),
    )
    .map(([before, data, after]) => Buffer.concat([Buffer.from(`${before}data: `), data, Buffer.from(after)])),
);

describe("readPlainEvent", () => {
  it("reads what a reader of events reads, or nothing", () => {
    let plain = 0;
    fc.assert(
      fc.property(anything, (bytes) => {
        const event = readPlainEvent(bytes);
        if (event === undefined) return;
        plain++;
        const reader = createEventReader(1000);
        expect([...reader.read(bytes), ...reader.end()]).toEqual([event]);
      }),
      { numRuns: 3000 },
    );
    expect(plain).toBeGreaterThan(100);
  });

  it("reads events as servers write them", () => {
    expect(readPlainEvent(Buffer.from("data: {}\n\n"))).toEqual({ data: "{}", event: undefined });
    expect(readPlainEvent(Buffer.from('event: ping\ndata: {"é":1}\n\n'))).toEqual({ data: '{"é":1}', event: "ping" });
  });

  it.each([
    "data: a\ndata: b\n\n",
    "data: a\rdata: b\n\n",
    "data: a\r\n\r\n",
    "data: a\n",
    "id: 1\ndata: a\n\n",
    ": a\n\n",
  ])("leaves to a reader: %j", (text) => {
    expect(readPlainEvent(Buffer.from(text))).toBeUndefined();
  });
});
