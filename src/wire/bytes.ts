import { Buffer } from "node:buffer";

/** So many are copied one by one in the time in which the runtime makes a view of them. */
const fewBytes = 64;

/** So short a text is written here before the runtime is called. */
const shortText = 32;

/** Gathers bytes into one buffer. */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  readonly #nextSize: number;

  /**
   * @param size - what will probably be needed.
   * @param nextSize - what will be needed if that is not enough. Default: twice as much.
   */
  constructor(size: number, nextSize = 0) {
    this.#buffer = Buffer.allocUnsafe(size);
    this.#nextSize = nextSize;
  }

  get length(): number {
    return this.#length;
  }

  write(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes the bytes of a buffer from `start` to `end`. */
  writeFrom(bytes: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start);
    if (end - start <= fewBytes) {
      for (let from = start; from < end; from++) this.#buffer[this.#length++] = bytes[from] as number;
      return;
    }
    bytes.copy(this.#buffer, this.#length, start, end);
    this.#length += end - start;
  }

  /** Writes text as UTF-8. */
  writeText(text: string): void {
    this.#makeRoom(text.length * 3);
    if (text.length <= shortText && this.#writeASCII(text)) return;
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** @returns whether it was nothing but ASCII, and is written. */
  #writeASCII(text: string): boolean {
    const length = this.#length;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#buffer[length + index] = code;
    }
    this.#length = length + text.length;
    return true;
  }

  /** What was written since `start`, for reading only. */
  since(start: number): Buffer {
    return this.#buffer.subarray(start, this.#length);
  }

  /** What was written so far. What is written after it goes into another buffer. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.allocUnsafe(this.#buffer.length);
    this.#length = 0;
    return taken;
  }

  /** What was written. The writer is not to be used after it. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#nextSize, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Making a view costs more than reading a short text through it, so one is made only of what is none. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The bytes in memory of their own, for what is kept for long: a piece of the runtime's pool, which is where short buffers
 * come from, keeps all of the pool from being freed.
 */
export function unpooled(bytes: Buffer): Buffer {
  if (bytes.length >= Buffer.poolSize / 2) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/** The text behind its byte order mark, which RFC 8259 lets a reader ignore. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** What an upstream sends, or an event of it, is larger than its bound. The message is for the operator. */
export class TooLargeError extends Error {
  override readonly name = "TooLargeError";
}
