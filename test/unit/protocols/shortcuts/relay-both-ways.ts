import { Buffer } from "node:buffer";
import type { StreamCodec } from "../../../../src/protocols/shared/stream-codec.js";
import { wholeOutgoing } from "../../../../src/wire/slices.js";
import { relayPieces } from "../../../support/relay-pieces.js";

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
  const relayed = relayPieces(codec as StreamCodec, bytes, cuts, useShortcut);
  const { seenOutput, hasOutput, reasons, awaitsUsage, isComplete, isDone, tokens, responseId } = codec.progress;
  const sent = Buffer.concat([relayed.sent, codec.keepAlive()]).toString("latin1");
  const progress = { seenOutput, hasOutput, reasons, awaitsUsage, isComplete, isDone, tokens, responseId };
  return { sent: withoutOwnIds(sent), fault: relayed.fault, end: endOf(codec), progress };
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
