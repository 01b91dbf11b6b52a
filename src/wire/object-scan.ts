const quote = 0x22;
const backslash = 0x5c;

/** Follows the text of a JSON object that comes in pieces, each character once, to tell when it has ended. */
export class ObjectScan {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Something else than white space came outside of the object: it is none. */
  #isBroken = false;
  #hasEnded = false;

  /** Nothing can be added to an object that has ended. */
  get isComplete(): boolean {
    return this.#hasEnded && !this.#isBroken;
  }

  read(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isInString) this.#readInString(code);
      else if (this.#depth > 0) this.#readInside(code);
      else this.#readOutside(code);
    }
  }

  #readInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }

  #readInside(code: number): void {
    if (code === quote) this.#isInString = true;
    else if (code === 0x7b || code === 0x5b) this.#depth++;
    else if (code === 0x7d || code === 0x5d) this.#hasEnded = --this.#depth === 0;
  }

  #readOutside(code: number): void {
    if (code === 0x7b && !this.#hasEnded) this.#depth = 1;
    else if (code > 0x20) this.#isBroken = true;
  }
}
