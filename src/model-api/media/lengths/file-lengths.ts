import type { PiecedBytes } from "../../../wire/pieces/pieced-bytes.js";
import { type Steps, sliceBytes } from "../../../wire/slices.js";
import { longestByRate, mpegFrames, unknownSeconds, waveRate } from "../audio-seconds.js";
import { flacSeconds } from "./flac-seconds.js";
import { mp4Seconds } from "./mp4-seconds.js";
import { slowestMpeg } from "./mpeg-frames.js";
import { oggSeconds } from "./ogg-seconds.js";
import { webmSeconds } from "./webm-seconds.js";

/** What is known of how long a file of audio lasts, in seconds. */
export interface AudioLengths {
  /** By the number of its bytes: it is held. Infinite: that says nothing. */
  readonly most: number;
  /**
   * By what a decoder finds in it, at the most: it is charged where nobody else counts. What a file merely states of its
   * length is never read: that is its client's word. `undefined`: it is not known.
   */
  readonly measured: number | undefined;
}

/** By a file's first bytes. */
const readers = new Map<string, (file: PiecedBytes) => Steps<number | undefined>>([
  ["OggS", oggSeconds],
  ["fLaC", flacSeconds],
  ["\u001aE\u00df\u00a3", webmSeconds],
]);

export function* fileLengths(file: PiecedBytes): Steps<AudioLengths> {
  const { most, measured } = yield* lengthsOf(file);
  // Sums of fractions come out a little above.
  return { most, measured: measured && Number(measured.toFixed(6)) };
}

function* lengthsOf(file: PiecedBytes): Steps<AudioLengths> {
  const start = file.part(0, 8);
  const read = start.toString("latin1", 4) === "ftyp" ? mp4Seconds : readers.get(start.toString("latin1", 0, 4));
  if (read !== undefined) return { most: unknownSeconds, measured: yield* read(file) };
  const rate = waveRate(file);
  const most = longestByRate(rate, file.length);
  if (rate !== undefined) return { most, measured: Number.isFinite(most) ? most : undefined };
  const frames = yield* mpegFrames(file, shortPieces(file));
  return frames === undefined
    ? { most: unknownSeconds, measured: undefined }
    : { most: longestByRate(slowestMpeg, file.length), measured: frames.seconds };
}

function* shortPieces({ pieces }: PiecedBytes): Generator<Uint8Array, void> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes);
  }
}
