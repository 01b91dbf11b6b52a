import { Buffer } from "node:buffer";
import { TokenScan } from "./token-scan.js";

const blockBytes = 32;

/** What is kept of a text at the most, in bytes: all of one that is not longer. */
const mostKept = 8192;
const firstKept = 1024;

/** So many are copied one by one in the time in which the runtime makes a view of them. */
const fewBytes = 64;

const backslash = 0x5c;
const lineFeed = 0x0a;

/**
 * A text that comes in pieces, of which so much is kept that its tokens can be bounded when that is needed: all of a
 * short one, and of a longer one every second block, every fourth, and so on. Adding to it costs little more than a copy.
 */
export class TextSample {
  readonly #isJson: boolean;
  #kept: Buffer = none;
  #length = 0;
  #bytes = 0;
  /** One in so many blocks is kept. */
  #stride = 1;
  /** Bytes before the next block that is kept. */
  #gap = 0;
  /** The tokens are asked for more than once. */
  #countedBytes = 0;
  #tokens = 0;

  /** @param isJson - the text is JSON, in which escapes stand for the characters that a model writes. */
  constructor(isJson = false) {
    this.#isJson = isJson;
  }

  /** The bytes of the whole text. */
  get bytes(): number {
    return this.#bytes;
  }

  addText(text: string): void {
    if (text === "") return;
    // A code unit has three bytes at the most.
    if (this.#stride > 1 || !this.#hasRoom(text.length * 3)) {
      const bytes = Buffer.from(text);
      this.addBytes(bytes, 0, bytes.length);
      return;
    }
    const written = this.#kept.write(text, this.#length);
    this.#length += written;
    this.#bytes += written;
  }

  addBytes(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#bytes += length;
    if (this.#stride === 1 && this.#hasRoom(length)) {
      this.#copy(bytes, start, end);
      return;
    }
    let at = start;
    while (at < end) {
      const skipped = Math.min(this.#gap, end - at);
      this.#gap -= skipped;
      at += skipped;
      if (at === end) return;
      if (this.#length === mostKept) {
        this.#thin();
        continue;
      }
      this.#hasRoom(blockBytes);
      const taken = Math.min(end - at, blockBytes - (this.#length % blockBytes));
      this.#copy(bytes, at, at + taken);
      at += taken;
      if (this.#length % blockBytes === 0) this.#gap = (this.#stride - 1) * blockBytes;
    }
  }

  /**
   * The same for what stands in JSON between two quotes, with no escapes but the short ones.
   * @param escapes - how many there are.
   */
  addEscaped(bytes: Uint8Array, start: number, end: number, escapes: number): void {
    if (escapes === 0) {
      this.addBytes(bytes, start, end);
      return;
    }
    const length = end - start - escapes;
    if (this.#stride === 1 && this.#hasRoom(length)) {
      writeUnescaped(bytes, start, end, this.#kept.subarray(this.#length));
      this.#length += length;
      this.#bytes += length;
      return;
    }
    const text = Buffer.allocUnsafe(length);
    writeUnescaped(bytes, start, end, text);
    this.addBytes(text, 0, length);
  }

  /**
   * The most tokens that the text has, as `textTokens` counts them. Of a text of more than 8 KiB it is an estimate that
   * errs upwards, since what it cuts in two counts twice.
   */
  tokens(): number {
    if (this.#countedBytes !== this.#bytes) {
      this.#countedBytes = this.#bytes;
      this.#tokens = this.#count();
    }
    return this.#tokens;
  }

  #count(): number {
    const kept = this.#kept.subarray(0, this.#length);
    if (this.#length === this.#bytes) return Math.ceil(new TokenScan(kept, this.#isJson).tokens(0, this.#length));
    let tokens = 0;
    const block = Buffer.allocUnsafe(blockBytes);
    const scan = new TokenScan(block, this.#isJson);
    const blocksEnd = this.#length - (this.#length % blockBytes);
    for (let start = 0; start < blocksEnd; start += blockBytes) {
      for (let at = 0; at < blockBytes; at++) block[at] = kept[start + at] as number;
      tokens += scan.tokens(0, blockBytes);
    }
    const last = kept.subarray(blocksEnd);
    tokens += new TokenScan(last, this.#isJson).tokens(0, last.length);
    return Math.ceil((tokens / this.#length) * this.#bytes);
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    const kept = this.#kept;
    let to = this.#length;
    if (end - start <= fewBytes) for (let from = start; from < end; from++) kept[to++] = bytes[from] as number;
    else kept.set(bytes.subarray(start, end), to);
    this.#length += end - start;
  }

  /** Makes room for more bytes. @returns `false`: there is none. */
  #hasRoom(more: number): boolean {
    const needed = this.#length + more;
    if (needed <= this.#kept.length) return true;
    if (needed > mostKept) return false;
    let size = Math.max(this.#kept.length, firstKept);
    while (size < needed) size *= 8;
    // Of its own: a slice of a shared buffer would keep all of that.
    const larger = Buffer.allocUnsafeSlow(size);
    this.#kept.copy(larger, 0, 0, this.#length);
    this.#kept = larger;
    return true;
  }

  /** Keeps every second block, the first or the second of each pair, which nobody can foresee. */
  #thin(): void {
    const kept = this.#kept;
    const place = Math.random() < 0.5 ? 0 : 1;
    let to = 0;
    for (let from = place * blockBytes; from < mostKept; from += 2 * blockBytes) {
      kept.copyWithin(to, from, from + blockBytes);
      to += blockBytes;
    }
    this.#length = to;
    // The next block would have been kept, and it is so if the first of a pair is.
    this.#gap = place * this.#stride * blockBytes;
    this.#stride *= 2;
  }
}

const none = Buffer.alloc(0);

function writeUnescaped(bytes: Uint8Array, start: number, end: number, to: Uint8Array): void {
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    to[length++] = byte === backslash ? unescaped(bytes[++at] as number) : byte;
  }
}

/** What a short escape stands for. */
function unescaped(letter: number): number {
  if (letter === 0x6e) return lineFeed;
  if (letter === 0x72) return 0x0d;
  if (letter === 0x74) return 0x09;
  if (letter === 0x62) return 0x08;
  return letter === 0x66 ? 0x0c : letter;
}
