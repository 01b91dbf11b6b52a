import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GuardedCodec } from "../../../../src/call/guarded/guarded-codec.js";
import { EventRelay } from "../../../../src/call/relay/event-relay.js";
import { ChatCodec } from "../../../../src/protocols/chat/chat-codec.js";
import type { StreamCodec } from "../../../../src/protocols/shared/stream-codec.js";
import { chatChunks, toEventBytes } from "../../../../src/testing.js";
import { ByteWriter } from "../../../../src/wire/bytes.js";
import { wholeOutgoing } from "../../../../src/wire/slices.js";
import { answerContext } from "../../../support/answer-context.js";

/** What a client gets for a stream that arrives in pieces of this many bytes. */
function relayed(codec: StreamCodec, stream: Buffer, pieceBytes: number): Buffer {
  const out = new ByteWriter(1024);
  const relay = new EventRelay(codec, { maxEventBytes: 1e6 });
  for (let at = 0; at < stream.length; at += pieceBytes) relay.read(stream.subarray(at, at + pieceBytes), out);
  relay.end(out);
  out.write(wholeOutgoing(codec.end()));
  return Buffer.from(out.finish());
}

const chat = () => new ChatCodec(answerContext({}), true);
const guard = (holds: boolean, maxBytes: number, overran = () => {}) =>
  new GuardedCodec(chat(), { holds, maxBytes, overran, heldBack: () => {}, fresh: chat });

describe("a stream that guards check", () => {
  it("has the same bytes as without guards, held or not, below its bound and above", () => {
    const input = fc.record({
      text: fc.string({ unit: "grapheme", maxLength: 200 }),
      pieceLength: fc.integer({ min: 1, max: 20 }),
      pieceBytes: fc.integer({ min: 1, max: 500 }),
      maxBytes: fc.integer({ min: 1, max: 20_000 }),
    });
    fc.assert(
      fc.property(input, ({ text, pieceLength, pieceBytes, maxBytes }) => {
        const events = [...chatChunks(text, { pieceLength }).map(toEventBytes), Buffer.from("data: [DONE]\n\n")];
        const stream = Buffer.concat(events);
        const plain = relayed(chat(), stream, pieceBytes);
        const watched = guard(false, maxBytes);
        expect(relayed(watched, stream, pieceBytes)).toEqual(plain);
        const held = guard(true, maxBytes);
        const passed = relayed(held, stream, pieceBytes);
        if (plain.length > maxBytes) {
          expect(passed).toEqual(plain);
          expect(() => held.collected).toThrow("too large");
          expect(() => watched.collected).toThrow("too large");
        } else {
          expect(passed).toEqual(Buffer.alloc(0));
          expect(held.collected).toEqual(plain);
          expect(watched.collected).toEqual(plain);
        }
      }),
    );
  });

  it("is let go, with all that it has, when it must not go on", () => {
    const stream = Buffer.concat(chatChunks("Hello world", { pieceLength: 1 }).map(toEventBytes));
    const codec = guard(true, 1_000, () => {
      throw new Error("stop");
    });
    expect(() => relayed(codec, stream, 50)).toThrow("stop");
    expect(codec.holds).toBe(true);
    expect(() => codec.collected).toThrow("too large");
  });
});
