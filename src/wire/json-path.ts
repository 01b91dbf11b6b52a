import { Buffer } from "node:buffer";
import type { SlicedWork } from "./slices.js";

/** Longer paths are cut: they end up in an error message. */
const longestPath = 200;

/**
 * Finds where in the document the byte at `offset` stands, as a dotted path such as `messages[0].content`, in slices.
 * For error messages only: the text before `offset` must be valid JSON so far.
 */
export class PathSearch implements SlicedWork {
  readonly #bytes: Uint8Array;
  readonly #offset: number;
  /** By level: the index in an array, and in an object where the member's name begins, as a number below 0. */
  readonly #levels: number[] = [];
  #position = 0;
  #awaitsKey = false;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  get position(): number {
    return this.#position;
  }

  /** Known once all is read. */
  get path(): string | null {
    let text = "";
    for (const level of this.#levels) {
      if (level >= 0) text += `[${level}]`;
      else if (level !== noName) text += (text === "" ? "" : ".") + this.#nameAt(-level);
      if (text.length > longestPath) return `${text.slice(0, longestPath)}…`;
    }
    return text === "" ? null : text;
  }

  run(until: number): boolean {
    const bytes = this.#bytes;
    const levels = this.#levels;
    const offset = this.#offset;
    const stop = Math.min(until, offset);
    let position = this.#position;
    let awaitsKey = this.#awaitsKey;
    let isCut = false;
    while (position < stop) {
      const byte = bytes[position];
      const top = levels.length - 1;
      if (byte === 0x22) {
        const end = stringEnd(bytes, position);
        isCut = end > offset;
        if (isCut) break;
        if (awaitsKey) levels[top] = -position;
        awaitsKey = false;
        position = end;
        continue;
      }
      if (byte === 0x7b) {
        levels.push(noName);
        awaitsKey = true;
      } else if (byte === 0x5b) {
        levels.push(0);
        awaitsKey = false;
      } else if (byte === 0x7d || byte === 0x5d) {
        levels.pop();
        awaitsKey = false;
      } else if (byte === 0x2c) {
        const level = levels[top] ?? 0;
        awaitsKey = level < 0;
        levels[top] = awaitsKey ? noName : level + 1;
      }
      position++;
    }
    this.#position = position;
    this.#awaitsKey = awaitsKey;
    return isCut || position >= offset;
  }

  #nameAt(start: number): string {
    const end = Math.min(stringEnd(this.#bytes, start) - 1, start + 1 + longestPath);
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start + 1, end - start - 1).toString("utf8");
  }
}

/** No name begins there: an object's brace comes before it. */
const noName = -0.5;

function stringEnd(bytes: Uint8Array, start: number): number {
  let position = start + 1;
  while (position < bytes.length && bytes[position] !== 0x22) position += bytes[position] === 0x5c ? 2 : 1;
  return position + 1;
}
