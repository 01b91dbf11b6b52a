/** Values of so many bytes are noted as skips, unless they lie deeper than anything that is looked for. */
export const longValue = 512;
export const deepestSkip = 10;

/** The ends of long values by their starts, as the check of a text notes them. A later reader of the text skips over them. */
export interface Skips {
  /** The offset behind the value that begins at this one; `undefined`: it is not noted. */
  get(start: number): number | undefined;
}

/** What notes them. */
export interface SkipNotes {
  set(start: number, end: number): void;
}

/** The text is divided into stretches of 2 KB, by these bits of an offset. */
const stretchBits = 11;

/** Of each value: its start, its end, and the one noted before it that begins in the same stretch. */
const numbersOfValue = 3;
const firstValues = 16;

/**
 * Finds a value by the stretch of the text in which it begins. Within {@link longValue} bytes two values begin only where one
 * lies in the other. So few begin in one stretch, however a text is made.
 */
export class SkipTable implements Skips, SkipNotes {
  /** The number of the value that was noted last in each stretch; 0: there is none. */
  readonly #lastOf: Int32Array;
  #values = new Int32Array(firstValues * numbersOfValue);
  #size = 0;

  /** @param bytes - the length of the text. */
  constructor(bytes: number) {
    this.#lastOf = new Int32Array((bytes >>> stretchBits) + 1);
  }

  /** How many values are noted. */
  get size(): number {
    return this.#size;
  }

  get(start: number): number | undefined {
    const values = this.#values;
    // Beyond the text there is no stretch.
    let value = this.#lastOf[start >>> stretchBits] ?? 0;
    while (value > 0) {
      const at = (value - 1) * numbersOfValue;
      if (values[at] === start) return values[at + 1];
      value = values[at + 2] as number;
    }
    return undefined;
  }

  /** A value is noted once, when its end is known: those within it come before it. */
  set(start: number, end: number): void {
    const at = this.#size * numbersOfValue;
    if (at === this.#values.length) this.#grow();
    const values = this.#values;
    const stretch = start >>> stretchBits;
    values[at] = start;
    values[at + 1] = end;
    values[at + 2] = this.#lastOf[stretch] as number;
    this.#lastOf[stretch] = ++this.#size;
  }

  /** Where a value begins. @param index - how many were noted before it. */
  startOf(index: number): number {
    return this.#values[index * numbersOfValue] as number;
  }

  /** The offset behind it. */
  endOf(index: number): number {
    return this.#values[index * numbersOfValue + 1] as number;
  }

  #grow(): void {
    const larger = new Int32Array(this.#values.length * 2);
    larger.set(this.#values);
    this.#values = larger;
  }
}

export const noSkips: Skips = new SkipTable(0);
