import { afterEach, expect, it, vi } from "vitest";
import { toFetchBody } from "../../../../src/providers/transport/fetch-transport.js";

afterEach(() => void vi.unstubAllGlobals());

const pieces = ["a form ", "in ", "pieces"].map((text) => Buffer.from(text));

/** As workerd's: it fails where another length comes. */
class FixedLengthStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(length: number) {
    let left = length;
    super({
      transform(piece, controller) {
        left -= piece.length;
        controller.enqueue(piece);
      },
      flush() {
        if (left !== 0) throw new TypeError(`${left} bytes are missing.`);
      },
    });
  }
}

it("a body in pieces is sent as it is where a stream can have a length, and else in one", async () => {
  expect(Buffer.from(toFetchBody(pieces) as Uint8Array).toString()).toBe("a form in pieces");
  vi.stubGlobal("FixedLengthStream", FixedLengthStream);
  const sent: Uint8Array[] = [];
  for await (const piece of toFetchBody(pieces) as ReadableStream<Uint8Array>) sent.push(piece);
  expect(sent.map((piece) => piece === pieces[sent.indexOf(piece)])).toEqual([true, true, true]);
  expect(toFetchBody(pieces[0] as Buffer)).toEqual(new Uint8Array(pieces[0] as Buffer));
});

it("a stream that nobody reads to its end breaks nothing", async () => {
  vi.stubGlobal("FixedLengthStream", FixedLengthStream);
  const stream = toFetchBody(pieces) as ReadableStream<Uint8Array>;
  const reader = stream.getReader();
  await reader.read();
  await reader.cancel(new Error("The connection broke."));
  await new Promise((resolve) => setImmediate(resolve));
});
