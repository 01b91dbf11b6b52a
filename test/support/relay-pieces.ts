import { Buffer } from "node:buffer";
import { EventRelay } from "../../src/call/relay/event-relay.js";
import type { StreamCodec } from "../../src/protocols/shared/stream-codec.js";
import { ByteWriter } from "../../src/wire/bytes.js";
import { wholeOutgoing } from "../../src/wire/slices.js";

/** What a client gets of a stream, and the fault that ends it. */
export interface RelayedPieces {
  readonly sent: Buffer;
  readonly fault: string | undefined;
}

/** Relays a stream's bytes, cut up at these places. */
export function relayPieces(
  codec: StreamCodec,
  bytes: Buffer,
  cuts: readonly number[],
  useShortcut: boolean,
): RelayedPieces {
  const relay = new EventRelay(codec, { maxEventBytes: 1_000_000, useShortcut });
  const sent: Buffer[] = [];
  let fault: string | undefined;
  const take = (work: (out: ByteWriter) => void) => {
    if (fault !== undefined) return;
    const out = new ByteWriter(1);
    try {
      work(out);
    } catch (error) {
      fault = String(error);
    }
    for (const early of relay.takeEarly() ?? []) sent.push(Buffer.from(wholeOutgoing(early)));
    sent.push(out.finish());
  };
  let from = 0;
  for (const cut of [...new Set(cuts)].sort((a, b) => a - b)) {
    if (cut <= from || cut >= bytes.length) continue;
    take((out) => relay.read(bytes.subarray(from, cut), out));
    from = cut;
  }
  take((out) => relay.read(bytes.subarray(from), out));
  take((out) => relay.end(out));
  return { sent: Buffer.concat(sent), fault };
}
