/** The lowest rate of MPEG audio, in bytes per second: 8,000 bits per second. */
export const slowestMpeg = 1000;

/** Kilobits per second, by the number of a frame's header. */
const rates = {
  1: [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  2: [
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;

const samplesPerSecond = [44_100, 48_000, 32_000];

/** What all frames of a file have alike: the mark of a frame, version, layer and samples per second. */
const kindMask = 0xfffe0c00;

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
}

/** Of the oldest tag behind the frames, which begins with `TAG`. */
const oldTagBytes = 128;
/** Far more than titles, names and lyrics take. */
const longestTag = 64 * 1024;
/** Of a tag of APE, and of Lyrics3. */
const tagMarks = [0x41504554, 0x4c595249];

/**
 * Follows the frames of MPEG audio, such as MP3, from each to the next. Only what is such frames to its end is taken for it: a
 * first frame alone may stand before anything, and servers go by what follows.
 */
export class MpegFrames {
  #seconds = 0;
  #kind: number | undefined;
  #isOther = false;
  /** Bytes before the next header. */
  #skip = 0;
  /** The header as far as it has come. */
  #head = 0;
  #have = 0;
  #lastHead = 0;
  #lastFrame: Frame | undefined;
  /** Bytes since a tag began; `undefined`: frames come. */
  #tag: { readonly isOld: boolean; bytes: number } | undefined;

  /** Of all frames. What stands in a long tag counts, too: some readers find frames in it. */
  get seconds(): number {
    return this.#seconds + (this.#tag === undefined || this.#tag.isOld ? 0 : this.#tag.bytes / slowestMpeg);
  }

  /** Gets the next bytes. @returns whether they may be such frames. */
  take(piece: Uint8Array): boolean {
    let at = 0;
    while (at < piece.length && !this.#isOther) {
      if (this.#tag !== undefined) {
        this.#tag.bytes += piece.length - at;
        break;
      }
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, piece.length - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      // Some writers fill up with zeros, and no frame begins with one.
      if (piece[at] === 0 && this.#have === 0 && this.#kind !== undefined) {
        while (at < piece.length && piece[at] === 0) at++;
        continue;
      }
      this.#head = (this.#head << 8) | (piece[at++] ?? 0);
      if (++this.#have === 4) this.#read(this.#head);
    }
    return !this.#isOther;
  }

  /** Whether all that has come is such frames, but for tags behind them. The last one may be cut. */
  get isWhole(): boolean {
    if (this.#isOther || this.#kind === undefined) return false;
    const tag = this.#tag;
    return tag === undefined || (tag.isOld ? tag.bytes === oldTagBytes : tag.bytes <= longestTag);
  }

  #read(head: number): void {
    this.#have = 0;
    // Most frames are as the one before.
    const frame = head === this.#lastHead ? this.#lastFrame : frameOf(head);
    this.#lastHead = head;
    this.#lastFrame = frame;
    const kind = head & kindMask;
    if (frame !== undefined && (this.#kind ?? kind) === kind) {
      this.#kind = kind;
      this.#skip = frame.bytes - 4;
      this.#seconds += frame.seconds;
      return;
    }
    const isOld = head >>> 8 === 0x544147;
    // Of three letters: `ID3`.
    const isTag = isOld || head >>> 8 === 0x494433 || tagMarks.includes(head);
    if (this.#kind !== undefined && isTag) this.#tag = { isOld, bytes: 4 };
    else this.#isOther = true;
  }
}

/** @returns `undefined` for what is no header, and for one of a free rate, which says no length. */
function frameOf(head: number): Frame | undefined {
  const version = (head >>> 19) & 3;
  const layer = 4 - ((head >>> 17) & 3);
  const of = samplesPerSecond[(head >>> 10) & 3];
  if (head >>> 21 !== 0x7ff || version === 1 || layer === 4 || of === undefined) return undefined;
  const kilobits = rates[version === 3 ? 1 : 2][layer - 1]?.[((head >>> 12) & 15) - 1];
  if (kilobits === undefined) return undefined;
  const rate = version === 3 ? of : version === 2 ? of / 2 : of / 4;
  const padding = (head >>> 9) & 1;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1152;
  const slot = layer === 1 ? 4 : 1;
  const bytes = (Math.floor((samples * kilobits * 125) / slot / rate) + padding) * slot;
  return { bytes, seconds: samples / rate };
}
