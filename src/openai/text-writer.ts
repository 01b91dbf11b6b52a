/** Gathers text into one string: joining costs next to nothing until the string is written out. */
export class TextWriter {
  #text = "";

  /** Writes the part of a text from `start` to `end`. */
  writeFrom(source: string, start: number, end: number): void {
    this.#text += source.slice(start, end);
  }

  writeText(text: string): void {
    this.#text += text;
  }

  /** What was written. */
  finish(): string {
    return this.#text;
  }
}
