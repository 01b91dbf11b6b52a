import type { Buffer } from "node:buffer";
import type { PiecedBytes } from "../../../wire/pieces/pieced-bytes.js";
import { SliceCount, type Steps, valueBytes } from "../../../wire/slices.js";
import { packetMs } from "./opus-packet.js";

const pageMark = 0x4f676753;
const headBytes = 27;
const mostSegments = 255;
const continued = 1;
const first = 2;

/** How long a packet lasts, in milliseconds, by its first two bytes. */
type PacketMs = (one: number | undefined, two: number | undefined) => number;

interface Stream {
  readonly packetMs: PacketMs;
  /** Whether its last page ended within a packet. */
  isOpen: boolean;
}

/**
 * How long an Ogg file with Opus or Vorbis lasts at the most, by its packets. What its pages say of their time is a client's
 * word, but nobody hears more than there are packets.
 * @returns `undefined` for anything else, also where something stands between the pages.
 */
export function* oggSeconds(file: PiecedBytes): Steps<number | undefined> {
  const streams = new Map<number, Stream>();
  const count = new SliceCount();
  let ms = 0;
  for (let at = 0; at < file.length; ) {
    const head = file.part(at, at + headBytes + mostSegments);
    if (head.length < headBytes || head.readUInt32BE(0) !== pageMark) return undefined;
    const sizes = head.subarray(headBytes, headBytes + (head[26] ?? 0));
    const start = at + headBytes + sizes.length;
    const end = start + sizes.reduce((sum, size) => sum + size, 0);
    const body = file.part(start, end);
    const flags = head[5] ?? 0;
    const serial = head.readUInt32LE(14);
    const packet = (flags & first) === 0 ? streams.get(serial)?.packetMs : codecOf(body);
    if (packet === undefined) return undefined;
    const wasOpen = streams.get(serial)?.isOpen === true;
    ms += pageMs(sizes, body, { packetMs: packet, isOpen: wasOpen && (flags & continued) !== 0 });
    streams.set(serial, { packetMs: packet, isOpen: sizes.at(-1) === 255 });
    at = end;
    if (count.isFull(end - start + headBytes + (sizes.length + 8) * valueBytes)) yield;
  }
  return ms / 1000;
}

/** @param isOpen - the page begins within a packet, which was counted. */
function pageMs(sizes: Buffer, body: Buffer, { packetMs: of, isOpen }: Stream): number {
  let ms = 0;
  let isWithin = isOpen;
  let at = 0;
  for (const size of sizes) {
    if (!isWithin) ms += of(size > 0 ? body[at] : undefined, size > 1 ? body[at + 1] : undefined);
    isWithin = size === 255;
    at += size;
  }
  return ms;
}

/** By the first packet of a stream. */
function codecOf(packet: Buffer): PacketMs | undefined {
  if (packet.toString("latin1", 0, 8) === "OpusHead") return packetMs;
  if (packet.toString("latin1", 0, 7) !== "\u0001vorbis" || packet.length < 30) return undefined;
  const rate = packet.readUInt32LE(12);
  // A packet of Vorbis has half a block at the most.
  const ms = (2 ** ((packet[28] ?? 0) >> 4) * 500) / rate;
  return rate === 0 ? undefined : () => ms;
}
