/** Milliseconds of a frame, by the way in which it is coded: for speech, for both, and for music. */
const frameMs = [
  ...[10, 20, 40, 60, 10, 20, 40, 60, 10, 20, 40, 60],
  ...[10, 20, 10, 20],
  ...[2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20],
];

/** The longest packet that there is. */
export const longestPacketMs = 120;

/** How long a packet of Opus lasts, in milliseconds (RFC 6716, section 3.1). One that nobody can read counts as the longest. */
export function packetMs(first: number | undefined, second: number | undefined): number {
  if (first === undefined) return longestPacketMs;
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : (second ?? 0xff) & 0x3f;
  const ms = frames * (frameMs[first >> 3] ?? longestPacketMs);
  return ms === 0 ? longestPacketMs : Math.min(ms, longestPacketMs);
}
