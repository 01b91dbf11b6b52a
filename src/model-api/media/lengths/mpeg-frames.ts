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

/** Of a tag behind the frames. */
const id3Bytes = 128;
const apeMark = 0x41504554;
/** Far more than titles and names take. */
const longestApe = 64 * 1024;

/**
 * Follows the frames of MPEG audio, such as MP3, from each to the next. Only what is such frames to its end is taken for it: a
 * first frame alone may stand before anything, and servers go by what follows.
 */
export class MpegFrames {
  /** Of all frames. */
  seconds = 0;
  #kind: number | undefined;
  #isOther = false;
  /** Bytes before the next header. */
  #skip = 0;
  /** The header as far as it has come. */
  #head = 0;
  #have = 0;
  /** Bytes since a tag began; `undefined`: frames come. */
  #tag: { readonly isApe: boolean; bytes: number } | undefined;

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
      this.#head = ((this.#head << 8) | (piece[at++] ?? 0)) >>> 0;
      if (++this.#have === 4) this.#read(this.#head);
    }
    return !this.#isOther;
  }

  /** Whether all that has come is such frames, but for a tag behind them. The last one may be cut. */
  get isWhole(): boolean {
    if (this.#isOther || this.#kind === undefined) return false;
    const tag = this.#tag;
    return tag === undefined || (tag.isApe ? tag.bytes <= longestApe : tag.bytes === id3Bytes);
  }

  #read(head: number): void {
    this.#have = 0;
    const frame = frameOf(head);
    const kind = (head & kindMask) >>> 0;
    if (frame !== undefined && (this.#kind ?? kind) === kind) {
      this.#kind = kind;
      this.#skip = frame.bytes - 4;
      this.seconds += frame.seconds;
      return;
    }
    const isApe = head === apeMark;
    if (this.#kind !== undefined && (isApe || head >>> 8 === 0x544147)) this.#tag = { isApe, bytes: 4 };
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
