/** More tokens than any text has for each of its bytes: no character takes more than two for a byte of it. */
const mostTokensPerByte = 2;

/** Shorter texts are counted in no time, in bytes. */
const shortest = 256;

/** What a prompt consists of. */
export interface PromptParts {
  /** The tokens of all that is no text. */
  readonly others: number;
  /** No fewer count at all: a part of the prompt has no bound of its own. 0: all parts have one. */
  readonly least: number;
  /** Those of `others` that stand for audio, or are as many as there may be. */
  readonly audio: number;
  /** The length of its texts. */
  readonly bytes: number;
  /** Whether the texts have at most two tokens for each byte, by the way in which they are counted. */
  readonly isBounded: boolean;
}

/** The most tokens of a prompt. Its texts are counted when somebody asks for them. */
export class PromptCount {
  readonly #parts: PromptParts;
  readonly #countTexts: () => number;
  #tokens: number | undefined;

  constructor(parts: PromptParts, countTexts: () => number) {
    this.#parts = parts;
    this.#countTexts = countTexts;
  }

  get tokens(): number {
    const { others, least } = this.#parts;
    this.#tokens ??= Math.max(Math.ceil(others + this.#countTexts()), least);
    return this.#tokens;
  }

  /** The most of the tokens that stand for audio. */
  get audio(): number {
    return this.#parts.audio;
  }

  /**
   * What the tokens do not exceed, by the bytes of the texts: several times as many, and known at once. `undefined`: only the
   * count says, or it takes no time either.
   */
  get bound(): number | undefined {
    const { others, least, bytes, isBounded } = this.#parts;
    if (!isBounded || least > 0) return undefined;
    return bytes < shortest ? undefined : Math.ceil(others) + bytes * mostTokensPerByte;
  }
}
