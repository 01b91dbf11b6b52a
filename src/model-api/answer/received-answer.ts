import { asBuffer } from "../../wire/as-buffer.js";
import { endOfValue, skipSpace } from "../../wire/json-members.js";
import { JsonCheck } from "../../wire/json-syntax.js";
import { type Leaps, LeapTable, noLeaps } from "../../wire/leaps.js";
import { valueSteps } from "../../wire/sliced/value-steps.js";
import { type Steps, sliceBytes, slicesOf } from "../../wire/slices.js";

/** Of an answer that is checked before it is read. */
export const mostDepth = 256;

/** Shorter ones are parsed in the time that it takes to leave anything out. */
export const outlinePays = 2048;

/** Stands in an outline for a long text. */
const leftOut = "\u0000\u2026";
const leftOutJson = JSON.stringify(leftOut);
const noGaps: readonly number[] = [];

/** Whether a text is made of one that an outline leaves out. */
export function isLeftOut(text: string | undefined): boolean {
  return text?.includes(leftOut) === true;
}

/** A whole response from an upstream. It is parsed on first access. */
export class ReceivedAnswer {
  readonly bytes: Uint8Array;
  /** Where the texts begin that are left out of the JSON. */
  readonly gaps: readonly number[];
  /** Something was made of a text that is left out: all must be parsed. */
  isTooLittle = false;
  #text: string | undefined;
  #json: unknown;
  #isParsed = false;
  #check: JsonCheck | undefined;
  #leaps: LeapTable | undefined;

  constructor(bytes: Uint8Array, gaps = noGaps) {
    this.bytes = bytes;
    this.gaps = gaps;
  }

  /** The bytes as text. */
  get text(): string {
    this.#text ??= asBuffer(this.bytes).toString("utf8");
    return this.#text;
  }

  /** The ends of long values, by their starts, once the response was checked. */
  get leaps(): Leaps {
    return this.#leaps ?? noLeaps;
  }

  /** Checks a long text in steps. */
  *check(): Steps<void> {
    if (this.#check === undefined && this.bytes.length > sliceBytes) yield* slicesOf(this.#newCheck());
  }

  /**
   * The same without its long texts, which are not parsed.
   * @returns `undefined` where it is not one JSON object as any reader takes it, or has too few long texts.
   */
  outline(): ReceivedAnswer | undefined {
    if (this.bytes.length < outlinePays) return undefined;
    if (this.#check === undefined) this.#newCheck().run(this.bytes.length);
    if (this.#check?.fault !== undefined) return undefined;
    const source = asBuffer(this.bytes);
    const gaps: number[] = [];
    let text = "";
    let from = 0;
    const leaps = this.#leaps as LeapTable;
    for (let noted = 0; noted < leaps.size; noted++) {
      const [start, end] = [leaps.startOf(noted), leaps.endOf(noted)];
      if (source[start] !== 0x22) continue;
      text += source.toString("utf8", from, start) + leftOutJson;
      gaps.push(start);
      from = end;
      if (text.length > sliceBytes) return undefined;
    }
    if (gaps.length === 0 || text.length + source.length - from > sliceBytes) return undefined;
    const outline = new ReceivedAnswer(this.bytes, gaps);
    outline.#leaps = this.#leaps;
    outline.#json = JSON.parse(text + source.toString("utf8", from));
    outline.#isParsed = true;
    return outline;
  }

  /**
   * Parses a long text in steps.
   * @param anyJSON - whether also what is nested deeper than any answer, and the like; otherwise such a text counts as none.
   */
  *parse(anyJSON: boolean): Steps<void> {
    if (this.#isParsed || this.bytes.length <= sliceBytes) return;
    yield* this.check();
    const fault = this.#check?.fault;
    this.#isParsed = fault === undefined || fault.reason === "syntax" || !anyJSON;
    if (fault !== undefined) return;
    const { leaps } = this;
    const start = skipSpace(this.bytes, 0);
    this.#json = yield* valueSteps(this.bytes, { start, end: endOfValue(this.bytes, start, leaps) }, leaps);
  }

  /** The parsed text; `undefined` when it is not JSON. */
  get json(): unknown {
    if (!this.#isParsed) {
      this.#isParsed = true;
      try {
        this.#json = JSON.parse(this.text);
      } catch {
        this.#json = undefined;
      }
    }
    return this.#json;
  }

  #newCheck(): JsonCheck {
    this.#leaps = new LeapTable(this.bytes.length);
    this.#check = new JsonCheck(this.bytes, mostDepth, this.#leaps);
    return this.#check;
  }
}
