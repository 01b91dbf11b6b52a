import { Buffer } from "node:buffer";
import { asBuffer } from "../wire/bytes.js";
import { skipSpace, skipString } from "../wire/json-members.js";
import { isCommonWord } from "./upstream-secrets.js";

/** Shorter ones are too often a part of something else. */
const shortestKey = 8;

/** In a document of any server's, far fewer strings have a key in them, or an escape for what needs none. */
const mostStrings = 2 ** 17;

/** Members that hold what a model wrote, or what it made: whatever stands there is no server's. */
const texts: ReadonlySet<string> = new Set(
  (
    "content text delta arguments reasoning reasoning_content thinking refusal partial_json transcript summary input output " +
    "code query token data b64_json audio signature encrypted_content embedding document title quote cited_text"
  ).split(" "),
);

/** How the escapes of printable ASCII begin, in which a key may be written as well as in its letters. */
const escaped = "\\u00";
const escapedBytes = Buffer.from(escaped);
const instead = "[redacted]";

/** The digits behind {@link escaped} of printable ASCII: 2 to 7. */
const firstAscii = 0x32;
const lastAscii = 0x37;

/** Takes a provider's keys out of what its server says beside the words of a model: ids, fingerprints, names of its own. */
export class KeyMask {
  /** The longest first. */
  readonly #keys: readonly string[];
  /** As they may be written in JSON. */
  readonly #written: readonly string[];
  /** The same: bytes are found faster among bytes. */
  readonly #bytes: readonly Buffer[];
  /** Finds them, or an escape, in bytes that are read as Latin-1. */
  #pattern: RegExp | undefined;

  /** `undefined`: there is no key to be taken out. */
  static of(keys: readonly string[]): KeyMask | undefined {
    // A number may stand outside of strings.
    const known = keys.filter((key) => key.length >= shortestKey && !isCommonWord(key) && !/^[-+.\deE]+$/.test(key));
    return known.length === 0 ? undefined : new KeyMask(known);
  }

  private constructor(keys: readonly string[]) {
    const all = new Set(keys.flatMap((key) => [key, encodeURIComponent(key.toWellFormed())]));
    this.#keys = [...all].sort((one, other) => other.length - one.length);
    const written = this.#keys.map((key) => JSON.stringify(key).slice(1, -1));
    this.#written = [...new Set([...written, ...written.map((key) => key.replaceAll("/", "\\/"))])];
    this.#bytes = this.#written.map((key) => Buffer.from(key));
  }

  /** The mask of these keys, too. */
  with(keys: readonly string[]): KeyMask | undefined {
    return KeyMask.of([...this.#keys, ...keys]);
  }

  /**
   * @param json - a document. @returns the same where it is none, or has no key in it.
   * @throws Error where a key, or what may be one, stands in more places than any server would write it to.
   */
  hide(json: Uint8Array): Uint8Array {
    const bytes = asBuffer(json);
    if (!bytes.includes(escapedBytes) && !this.#bytes.some((key) => bytes.includes(key))) return json;
    const first = bytes[skipSpace(bytes, 0)];
    return first === 0x7b || first === 0x5b ? this.#hideIn(bytes) : json;
  }

  /** Whether a key stands in the bytes, or an escape by which one may be written. */
  mayBeIn(bytes: Buffer): boolean {
    if (this.#bytes.some((key) => bytes.includes(key))) return true;
    for (let at = bytes.indexOf(escapedBytes); at >= 0; at = bytes.indexOf(escapedBytes, at + escapedBytes.length)) {
      const digit = bytes[at + escapedBytes.length] ?? firstAscii;
      if (digit >= firstAscii && digit <= lastAscii) return true;
    }
    return false;
  }

  /** A text that is no JSON, such as the name of an event, without the keys. */
  hideWord(text: string): string {
    return this.#keys.reduce((left, key) => left.replaceAll(key, instead), text);
  }

  /** The same as {@link hide} for a text. */
  hideText(json: string): string {
    if (!json.includes(escaped) && !this.#written.some((key) => json.includes(key))) return json;
    const bytes = Buffer.from(json);
    const hidden = this.hide(bytes);
    return hidden === bytes ? json : asBuffer(hidden).toString();
  }

  #hideIn(bytes: Buffer): Buffer {
    const text = bytes.toString("latin1");
    this.#pattern ??= patternOf(this.#bytes);
    const pattern = this.#pattern;
    const pieces: (Buffer | string)[] = [];
    let kept = 0;
    pattern.lastIndex = 0;
    for (let count = 0; pattern.test(text); count++) {
      if (count === mostStrings) throw new Error("The provider's key, or what may be one, fills the answer.");
      const at = pattern.lastIndex - 1;
      const start = quoteBefore(text, at);
      const end = skipString(bytes, start);
      pattern.lastIndex = Math.max(end, at + 1);
      if (isText(text, start, bytes)) continue;
      const hidden = this.#hideInString(bytes.toString("utf8", start, end));
      if (hidden === undefined) continue;
      pieces.push(bytes.subarray(kept, start), hidden);
      kept = end;
    }
    if (kept === 0) return bytes;
    pieces.push(bytes.subarray(kept));
    return Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
  }

  /** @returns `undefined` for a string that has no key in it, or that cannot be read. */
  #hideInString(string: string): string | undefined {
    let said: string;
    try {
      said = JSON.parse(string);
    } catch {
      return undefined;
    }
    const hidden = this.hideWord(said);
    return hidden === said ? undefined : JSON.stringify(hidden);
  }
}

function patternOf(keys: readonly Buffer[]): RegExp {
  const written = keys.map((key) => key.toString("latin1").replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  return new RegExp([...written, "\\\\u00[2-7]"].join("|"), "g");
}

/** Whether a string is the value of a member that holds a model's words. */
function isText(text: string, start: number, bytes: Buffer): boolean {
  const colon = lastOf(text, start - 1);
  if (text[colon] !== ":") return false;
  const quote = lastOf(text, colon - 1);
  return texts.has(bytes.toString("utf8", quoteBefore(text, quote) + 1, quote));
}

/** The last character that is no white space, up to here. */
function lastOf(text: string, at: number): number {
  let position = at;
  while (position > 0 && text.charCodeAt(position) <= 0x20) position--;
  return position;
}

/** The quote that opens the string in which something stands. */
function quoteBefore(text: string, at: number): number {
  let quote = text.lastIndexOf('"', at - 1);
  for (; quote > 0; quote = text.lastIndexOf('"', quote - 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) break;
  }
  return Math.max(0, quote);
}
