import { Buffer } from "node:buffer";
import type { PiecedBytes } from "../../../wire/pieces/pieced-bytes.js";
import { SliceCount, type Steps, sliceBytes, valueBytes } from "../../../wire/slices.js";
import { longestPacketMs, packetMs } from "./opus-packet.js";

const ids = {
  ...{ ebml: 0x1a45dfa3, segment: 0x18538067, cluster: 0x1f43b675, tracks: 0x1654ae6b, trackEntry: 0xae },
  ...{ blockGroup: 0xa0, block: 0xa1, simpleBlock: 0xa3, codec: 0x86, contentEncodings: 0x6d80 },
} as const;

/** What is read inside. */
const masters: ReadonlySet<number> = new Set([ids.segment, ids.cluster, ids.tracks, ids.trackEntry, ids.blockGroup]);
const longestHead = 12;
const deepest = 8;

interface Element {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/**
 * How long a WebM file with Opus lasts at the most, by its packets. Browsers state no length when they record; what others
 * state is a client's word, but nobody hears more than there are packets.
 * @returns `undefined` for anything else, and where the elements do not fit into each other.
 */
export function* webmSeconds(file: PiecedBytes): Steps<number | undefined> {
  const count = new SliceCount();
  const ends = [file.length];
  let ms = 0;
  let clusters = 0;
  for (let at = 0; at < file.length; ) {
    while (at === ends.at(-1)) ends.pop();
    const element = elementAt(file, at, ends.at(-1) ?? 0);
    if (element === undefined) return undefined;
    const { id, start, end } = element;
    if (id === ids.contentEncodings) return undefined;
    if (id === ids.cluster) clusters++;
    if (id === ids.codec && file.part(start, end).toString("latin1") !== "A_OPUS") return undefined;
    if (id === ids.block || id === ids.simpleBlock) ms += blockMs(file.part(start, Math.min(end, start + longestHead)));
    const isEntered = masters.has(id) && start < end;
    if (isEntered && end !== ends.at(-1) && ends.push(end) > deepest) return undefined;
    at = isEntered ? start : end;
    if (count.isFull(4 * valueBytes)) yield;
  }
  // Behind a fault, some readers look for the next cluster, wherever that stands.
  return ms === 0 || (yield* countClusters(file)) > clusters ? undefined : ms / 1000;
}

const clusterMark = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);

function* countClusters(file: PiecedBytes): Steps<number> {
  const count = new SliceCount();
  let clusters = 0;
  for (let at = 0; at < file.length; at += sliceBytes) {
    const end = Math.min(at + sliceBytes, file.length);
    const most = Math.min(end + clusterMark.length - 1, file.length);
    for (
      let found = file.indexOf(clusterMark, at, most);
      found >= 0;
      found = file.indexOf(clusterMark, found + 1, most)
    ) {
      clusters++;
      if (count.isFull(valueBytes)) yield;
    }
    yield;
  }
  return clusters;
}

/** @param within - where its parent ends. An element of unknown size goes as far. */
function elementAt(file: PiecedBytes, at: number, within: number): Element | undefined {
  const head = file.part(at, at + longestHead);
  const idBytes = Math.clz32((head[0] ?? 0) << 24) + 1;
  const sizeBytes = Math.clz32((head[idBytes] ?? 0) << 24) + 1;
  const start = idBytes + sizeBytes;
  if (idBytes > 4 || sizeBytes > 8 || head.length < start) return undefined;
  const id = head.readUIntBE(0, idBytes);
  const end = at + start + (sizeAt(head.subarray(idBytes, start)) ?? Number.POSITIVE_INFINITY);
  // A recording may be cut. Behind anything else that is too long, some readers look for what they know.
  if (end > within && !(masters.has(id) && within === file.length)) return undefined;
  return { id, start: at + start, end: Math.min(end, within) };
}

/** @returns `undefined` where it is unknown. */
function sizeAt(bytes: Buffer): number | undefined {
  let size = (bytes[0] ?? 0) & (0xff >> bytes.length);
  let isUnknown = size === 0xff >> bytes.length;
  for (const byte of bytes.subarray(1)) {
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return isUnknown ? undefined : size;
}

/** By the beginning of a block: the number of its track, its time, flags, and packets. */
function blockMs(block: Buffer): number {
  const at = Math.clz32((block[0] ?? 0) << 24) + 1 + 3;
  const isLaced = ((block[at - 1] ?? 0) & 0x06) !== 0;
  return isLaced ? ((block[at] ?? 255) + 1) * longestPacketMs : packetMs(block[at], block[at + 1]);
}
