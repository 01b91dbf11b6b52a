import { Buffer } from "node:buffer";
import type { PiecedBytes } from "../pieces/pieced-bytes.js";
import type { SlicedWork } from "../slices.js";
import { type FormPart, longestHead, readPartHead } from "./form-part.js";

/** Bounds of a form. */
export interface FormLimits {
  readonly mostParts: number;
  readonly mostFiles: number;
}

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");
const dashes = Buffer.from("--");

/**
 * Finds the parts of a form (RFC 7578), of which nothing is copied. It knows one grammar, the one that all clients write: what
 * readers take differently is a fault. The whole delimiter is what is searched for, so that no file takes long.
 */
export class FormScan implements SlicedWork {
  readonly parts: FormPart[] = [];
  /** What is wrong; `undefined`: nothing so far. */
  fault: string | undefined;
  readonly #bytes: PiecedBytes;
  readonly #delimiter: Buffer;
  readonly #limits: FormLimits;
  #position = 0;
  #files = 0;
  /** The part whose end is not found yet. */
  #open: Omit<FormPart, "end"> | undefined;

  constructor(bytes: PiecedBytes, boundary: string, limits: FormLimits) {
    this.#bytes = bytes;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#limits = limits;
  }

  get position(): number {
    return this.#position;
  }

  run(stop: number): boolean {
    if (this.#position === 0 && !this.#begin()) return true;
    while (this.#position < stop) {
      const found = this.#find(stop);
      if (found === undefined) return false;
      if (!this.#endPart(found)) return true;
    }
    return false;
  }

  #fail(fault: string): false {
    this.fault = fault;
    return false;
  }

  /** The first delimiter has no line before it, or an empty one. */
  #begin(): boolean {
    const bytes = this.#bytes;
    const start = bytes.part(0, 2).equals(lineEnd) ? 2 : 0;
    const opening = this.#delimiter.subarray(2);
    if (!bytes.part(start, start + opening.length).equals(opening)) {
      return this.#fail("The form does not begin with its boundary.");
    }
    return this.#next(start + opening.length);
  }

  /** @returns where the next delimiter begins; -1: there is none. `undefined`: it is behind `stop`, if there is one. */
  #find(stop: number): number | undefined {
    const end = Math.min(stop + this.#delimiter.length, this.#bytes.length);
    const at = this.#bytes.indexOf(this.#delimiter, this.#position, end);
    if (at >= 0) return at;
    if (end === this.#bytes.length) return -1;
    this.#position = end - this.#delimiter.length + 1;
    return undefined;
  }

  /** @returns whether there is more. */
  #endPart(at: number): boolean {
    const open = this.#open;
    if (at < 0 || open === undefined) return this.#fail("The form has no end: its last boundary is missing.");
    this.parts.push({ ...open, end: at });
    return this.#next(at + this.#delimiter.length);
  }

  /** @param at - behind a delimiter. @returns whether a part follows. */
  #next(at: number): boolean {
    const bytes = this.#bytes;
    const behind = bytes.part(at, at + 2);
    if (behind.equals(dashes)) {
      const rest = bytes.part(at + 2, at + 5);
      return rest.length === 0 || rest.equals(lineEnd) ? false : this.#fail("Something follows the end of the form.");
    }
    if (!behind.equals(lineEnd)) return this.#fail("A boundary of the form is followed by something else.");
    if (this.parts.length === this.#limits.mostParts) {
      return this.#fail(`The form has more than ${this.#limits.mostParts} parts.`);
    }
    const start = at + 2;
    const end = bytes.indexOf(headEnd, start, start + longestHead + headEnd.length);
    if (end < 0) return this.#fail(`A part of the form has no headers, or more than ${longestHead} bytes of them.`);
    const head = readPartHead(bytes.part(start, end));
    if (typeof head === "string") return this.#fail(`A part of the form ${head}.`);
    if (head.filename !== undefined && ++this.#files > this.#limits.mostFiles) {
      return this.#fail(`The form has more than ${this.#limits.mostFiles} files.`);
    }
    this.#open = { ...head, start: end + headEnd.length };
    this.#position = end + headEnd.length;
    return true;
  }
}
