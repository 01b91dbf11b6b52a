import { Buffer } from "node:buffer";
import { runtime } from "../runtime/this-runtime.js";
import type { PiecedBytes } from "./pieced-bytes.js";
import type { SlicedWork } from "./slices.js";

/** Bounds of a form. */
interface FormLimits {
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

/** A part of a form, as offsets into its bytes. */
export interface FormPart {
  readonly name: string;
  /** `undefined`: it is a field. */
  readonly filename: string | undefined;
  readonly type: string | undefined;
  /** Of its payload. */
  readonly start: number;
  /** Behind its payload. */
  readonly end: number;
}

const mostLines = 16;
/** Of the lines of a part together, in bytes. */
const longestHead = 8 * 1024;

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const header = new RegExp(`^(${token}):(.*)$`);
// In a file name alone, a quote and a backslash may be escaped.
const parameter = new RegExp(`^[ \\t]*;[ \\t]*(${token}\\*?)=(?:(${token})|"((?:[^"\\\\]|\\\\["\\\\])*)")`);
const plainEncodings = ["7bit", "8bit", "binary"];

/** What the lines before a part's payload say. @returns a text that says what is wrong. */
function readPartHead(bytes: Buffer): Pick<FormPart, "name" | "filename" | "type"> | string {
  const text = bytes.toString("utf8");
  if (!runtime.isUtf8(bytes) || hasControl(text)) return "has a header that is no text";
  const lines = text.split("\r\n");
  if (lines.length > mostLines) return `has more than ${mostLines} headers`;
  let disposition: string | undefined;
  let type: string | undefined;
  for (const line of lines) {
    const [, name = "", padded = ""] = header.exec(line) ?? [];
    const value = withoutBlanks(padded);
    switch (name.toLowerCase()) {
      case "":
        return "has a header that is none";
      case "content-disposition":
        if (disposition !== undefined) return "has two headers Content-Disposition";
        disposition = value;
        break;
      case "content-type":
        if (type !== undefined) return "has two headers Content-Type";
        type = value;
        break;
      case "content-transfer-encoding":
        if (!plainEncodings.includes(value.toLowerCase())) return "is encoded: send its bytes as they are";
        break;
    }
  }
  if (type !== undefined && isOtherCharset(type)) return "has another charset than utf-8";
  const names = readDisposition(disposition ?? "");
  return typeof names === "string" ? names : { ...names, type };
}

/** No expression does that at the end of a text in a time that grows with its length alone. */
function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (isBlank(text[start])) start++;
  while (end > start && isBlank(text[end - 1])) end--;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function readDisposition(value: string): Pick<FormPart, "name" | "filename"> | string {
  const start = /^form-data(?=[ \t]*(;|$))/i.exec(value);
  if (start === null) return "has no Content-Disposition of form-data";
  let rest = value.slice(start[0].length);
  let name: string | undefined;
  let filename: string | undefined;
  while (rest.trim() !== "") {
    const next = parameter.exec(rest);
    if (next === null) return "has a Content-Disposition that is none";
    const [all, which = "", plain, quoted = ""] = next;
    rest = rest.slice(all.length);
    const given = plain ?? quoted;
    switch (which.toLowerCase()) {
      case "name":
        if (name !== undefined) return "has two names";
        if (given.includes("\\")) return "has a name with a backslash";
        name = given;
        break;
      case "filename":
        if (filename !== undefined) return "has two file names";
        filename = given.replace(/\\(["\\])/g, "$1");
        break;
      case "name*":
        return "has a name that is encoded";
    }
  }
  return name === undefined || name === "" ? "has no name" : { name, filename };
}

function isOtherCharset(type: string): boolean {
  const [, charset] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? [];
  return charset !== undefined && !/^utf-?8$/i.test(charset);
}

/** But for the ends of lines and tabs. */
function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isLineEnd =
      unit === 0x0d ? text.charCodeAt(at + 1) === 0x0a : unit === 0x0a && text.charCodeAt(at - 1) === 0x0d;
    if ((unit < 0x20 && unit !== 0x09 && !isLineEnd) || unit === 0x7f) return true;
  }
  return false;
}
