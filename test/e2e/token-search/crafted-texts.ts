import { textTokens } from "../../../src/tokens/text-tokens.js";
import { realTokenizers } from "../../support/real-tokenizers.js";
import { vocabularies } from "./vocabularies.js";

/** What a crafted text is made of. */
export const alphabets: Readonly<Record<string, RegExp>> = {
  "small letters": /^[a-z]+$/,
  "small letters and spaces": /^[ a-z]+$/,
  letters: /^[ A-Za-z]+$/,
  capitals: /^[A-Z]+$/,
  "letters and digits": /^[A-Za-z0-9+/_-]+$/,
  "prose and its marks": /^[ a-z.,"'\n:(){}]+$/,
  "numbers and their marks": /^[0-9 .,:"{}[\]\n/-]+$/,
  "marks and white space": /^[^A-Za-z0-9]+$/,
  ASCII: /^.+$/s,
};

/** Longer tokens are of no use for what is crafted. */
const longestToken = 10;

interface Beam {
  text: string;
  last: string;
  /** By how much its tokens are more than what it counts. */
  gain: number;
}

const width = 24;
const longest = 14;
const tries = 12;

/** Bounds are rounded up: a text counts as often as it takes for that not to matter. */
const times = 32;
const boundOf = (text: string) => textTokens(Buffer.from(text.repeat(times))) / times;

/** Looks for texts that have more tokens than they count: chains of tokens that the tokenizer does not join. */
export class Crafting {
  readonly #count: (text: string) => number;
  readonly #tokens: readonly string[];
  readonly #random: () => number;
  readonly #joins = new Map<string, boolean>();

  constructor(tokenizer: string, alphabet: RegExp, random: () => number) {
    this.#count = realTokenizers[tokenizer] ?? (() => 0);
    this.#random = random;
    const all = (vocabularies[tokenizer]?.() ?? []).filter(
      (token) => token.length <= longestToken && alphabet.test(token),
    );
    // The cheapest by their own measure are where something can be gained.
    const gains = new Map(all.map((token) => [token, 1 - boundOf(token) + random() * 0.3]));
    this.#tokens = all.sort((one, other) => (gains.get(other) ?? 0) - (gains.get(one) ?? 0)).slice(0, 3000);
  }

  /** A text, and how many times the tokens that it counts it has. */
  craft(): { text: string; ratio: number } {
    let beams: Beam[] = [{ text: "", last: "", gain: 0 }];
    let best: Beam | undefined;
    for (let length = 0; length < longest; length++) {
      beams = beams
        .flatMap((beam) => this.#extend(beam))
        .sort((one, other) => other.gain - one.gain)
        .slice(0, width);
      const [first] = beams;
      if (first !== undefined && first.gain > (best?.gain ?? Number.NEGATIVE_INFINITY)) best = first;
    }
    const text = (best?.text ?? "a").repeat(20);
    return { text, ratio: this.#count(text) / textTokens(Buffer.from(text)) };
  }

  #extend(beam: Beam): Beam[] {
    const extended: Beam[] = [];
    for (let count = 0; count < tries; count++) {
      const token = this.#tokens[Math.floor(this.#random() * this.#random() * this.#tokens.length)] ?? "a";
      if (beam.last !== "" && this.#isJoined(beam.last, token)) continue;
      const text = beam.text + token;
      extended.push({
        text,
        last: token,
        gain: beam.gain + 1 - (boundOf(text) - (beam.text === "" ? 0 : boundOf(beam.text))),
      });
    }
    return extended;
  }

  #isJoined(one: string, other: string): boolean {
    const key = `${one}\0${other}`;
    let joined = this.#joins.get(key);
    if (joined === undefined) {
      joined = this.#count(one + other) !== 2;
      this.#joins.set(key, joined);
    }
    return joined;
  }
}
