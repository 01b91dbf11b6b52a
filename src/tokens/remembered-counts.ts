import { asBuffer } from "../wire/as-buffer.js";

/** Shorter texts are counted sooner than found, in bytes. */
const shortest = 96;

/** Longer ones are not kept, in bytes. */
const longest = 8192;

/**
 * Remembers what texts count. Most of a prompt has come before: system prompts and tools come with every call, and each
 * turn of a conversation brings all turns before it again. To look a text up costs a tenth of counting it.
 */
export class RememberedCounts {
  readonly #mostBytes: number;
  #recent = new Map<string, number>();
  #recentBytes = 0;
  #older: ReadonlyMap<string, number> = new Map();

  /** @param mostBytes - how much text is kept at the most; the texts that came last are. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** What the text counts. @param count - counts it, where that is not known. */
  count(text: Uint8Array, count: (text: Uint8Array) => number): number {
    const { length } = text;
    if (length < shortest || length > longest) return count(text);
    // A character for each byte, whatever it stands for.
    const key = asBuffer(text).toString("latin1", 0, length);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const tokens = this.#older.get(key) ?? count(text);
    this.#add(key, tokens);
    return tokens;
  }

  /** Half of what is kept is forgotten at once, which costs nothing for each text. */
  #add(key: string, tokens: number): void {
    if (this.#recentBytes + key.length > this.#mostBytes / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#recentBytes = 0;
    }
    this.#recent.set(key, tokens);
    this.#recentBytes += key.length;
  }
}
