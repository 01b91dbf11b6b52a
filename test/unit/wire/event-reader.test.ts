import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TooLargeError } from "../../../src/wire/bytes.js";
import { createEventReader } from "../../../src/wire/event-reader.js";

function read(bytes: Uint8Array, cuts: readonly number[] = []): string[] {
  const reader = createEventReader(1000);
  const events: string[] = [];
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    if (cut <= from || cut >= bytes.length) continue;
    events.push(...reader.read(bytes.subarray(from, cut)).map(({ data }) => data));
    from = cut;
  }
  events.push(...reader.read(bytes.subarray(from)).map(({ data }) => data));
  events.push(...reader.end().map(({ data }) => data));
  return events;
}

describe("createEventReader", () => {
  it("reads the same however the bytes are split", () => {
    const stream = fc.array(
      fc.record({
        data: fc.stringMatching(/^[a-zé👋{}":]{1,10}$/u),
        end: fc.constantFrom("\n", "\r\n", "\r"),
        before: fc.constantFrom("", ": comment", "id: 5", "retry: 10"),
        space: fc.constantFrom("", " "),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200)), (events, cuts) => {
        const text = events
          .map(({ data, end, before, space }) => `${before === "" ? "" : before + end}data:${space}${data}${end}${end}`)
          .join("");
        expect(read(Buffer.from(text), cuts)).toEqual(events.map(({ data }) => data));
      }),
    );
  });

  it("joins data lines, takes off a byte order mark, and gives the last event without its blank line", () => {
    expect(read(Buffer.from("\ufeffdata: a\ndata: b\n\ndata: c"))).toEqual(["a\nb", "c"]);
  });

  it("tells the event's name", () => {
    expect(createEventReader(100).read(Buffer.from("event: error\ndata: x\n\n"))).toEqual([
      { data: "x", event: "error" },
    ]);
  });

  it("reads no page of other lines, and any number of them beside events", () => {
    expect(() => read(Buffer.from("a\n".repeat(1001)))).toThrow(/none of an event stream/);
    expect(read(Buffer.from("a\ndata: x\n\n".repeat(3000)))).toHaveLength(3000);
  });

  it("does not gather more than its bound", () => {
    const reader = createEventReader(1000);
    reader.read(Buffer.from(`data: ${"x".repeat(900)}\n\n`));
    expect(() => reader.read(Buffer.from(`data: ${"x".repeat(2000)}`))).toThrow(TooLargeError);
    const lines = createEventReader(1000);
    const flood = () => {
      for (let line = 0; line < 100; line++) lines.read(Buffer.from(`data: ${"x".repeat(50)}\n`));
    };
    expect(flood).toThrow(TooLargeError);
  });
});
