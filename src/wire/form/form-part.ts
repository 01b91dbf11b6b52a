import type { Buffer } from "node:buffer";
import { runtime } from "../../runtime/this-runtime.js";

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
export const longestHead = 8 * 1024;

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const header = new RegExp(`^(${token}):(.*)$`);
// In a file name alone, a quote and a backslash may be escaped.
const parameter = new RegExp(`^[ \\t]*;[ \\t]*(${token}\\*?)=(?:(${token})|"((?:[^"\\\\]|\\\\["\\\\])*)")`);
const plainEncodings = ["7bit", "8bit", "binary"];

/** What the lines before a part's payload say. @returns a text that says what is wrong. */
export function readPartHead(bytes: Buffer): Pick<FormPart, "name" | "filename" | "type"> | string {
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
