import { Buffer } from "node:buffer";
import { EventRelay } from "../../../src/call/relay/event-relay.js";
import type { StreamCodec } from "../../../src/operations/stream-codec.js";
import { ByteWriter } from "../../../src/wire/byte-writer.js";
import { wholeOutgoing } from "../../../src/wire/sliced/late-bytes.js";

/** The parts of a codec that a stream needs. */
export type EventCodec = Pick<StreamCodec, "event" | "end" | "progress" | "keepAlive" | "shortcut">;

/** All that is seen of a stream: what its client gets, and what is known of it on the way. */
export interface Seen {
  sent: string;
  fault: string | undefined;
  end: string;
  progress: object;
}

/** Relays the bytes, cut up at these places. */
export function relayCut(codec: EventCodec, bytes: Buffer, cuts: readonly number[], useShortcut: boolean): Seen {
  const relay = new EventRelay(codec as StreamCodec, { maxEventBytes: 1_000_000, useShortcut });
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
  const { seenOutput, hasOutput, reasons, awaitsUsage, isComplete, isDone, tokens, responseId } = codec.progress;
  sent.push(Buffer.from(codec.keepAlive()));
  const progress = { seenOutput, hasOutput, reasons, awaitsUsage, isComplete, isDone, tokens, responseId };
  return { sent: withoutOwnIds(Buffer.concat(sent).toString("latin1")), fault, end: endOf(codec), progress };
}

/** A call of a tool whose id is missing gets a random one. */
function withoutOwnIds(sent: string): string {
  return sent.replace(/"call_[0-9a-f]{32}"/g, '"call_own"');
}

function endOf(codec: EventCodec): string {
  try {
    return Buffer.from(wholeOutgoing(codec.end())).toString("latin1");
  } catch (error) {
    return String(error);
  }
}
