import { Buffer } from "node:buffer";
import { asBuffer } from "../wire/as-buffer.js";
import { nameAt, skipSpace, skipString } from "../wire/json-members.js";
import { isCommonWord } from "./upstream-secrets.js";

/** Shorter ones are too often a part of something else. */
const shortestKey = 8;

/** Members that hold what a model wrote, or what it made: whatever stands there is no server's. */
const texts: ReadonlySet<string> = new Set(
  (
    "content text delta arguments reasoning reasoning_content thinking refusal partial_json transcript summary input output " +
    "code query token data b64_json audio signature encrypted_content embedding document title quote cited_text"
  ).split(" "),
);

const [quote, colon, openBrace, openBracket] = [0x22, 0x3a, 0x7b, 0x5b];
const instead = Buffer.from("[redacted]");

/** Takes a provider's keys out of what its server says beside the words of a model: ids, fingerprints, names of its own. */
export class KeyMask {
  readonly #keys: readonly string[];
  /** As they may be written in JSON, the longest first. */
  readonly #written: readonly string[];
  /** The same: bytes are found faster among bytes. */
  readonly #bytes: readonly Buffer[];

  /** `undefined`: there is no key to be taken out. */
  static of(keys: readonly string[]): KeyMask | undefined {
    const known = keys.filter((key) => key.length >= shortestKey && !isCommonWord(key));
    return known.length === 0 ? undefined : new KeyMask(known);
  }

  private constructor(keys: readonly string[]) {
    this.#keys = keys;
    const written = keys.map((key) => JSON.stringify(key).slice(1, -1));
    const all = new Set([...written, ...written.map((key) => key.replaceAll("/", "\\/"))]);
    this.#written = [...all].sort((one, other) => other.length - one.length);
    this.#bytes = this.#written.map((key) => Buffer.from(key));
  }

  /** The mask of these keys, too. */
  with(keys: readonly string[]): KeyMask | undefined {
    return KeyMask.of([...this.#keys, ...keys]);
  }

  /** @param json - a document. @returns the same where it is none, or has no key in it. */
  hide(json: Uint8Array): Uint8Array {
    const bytes = asBuffer(json);
    for (const key of this.#bytes) if (bytes.indexOf(key) >= 0) return isDocument(bytes) ? this.#hideIn(bytes) : json;
    return json;
  }

  /** The same for a text. */
  hideText(json: string): string {
    for (const key of this.#written) if (json.includes(key)) return asBuffer(this.hide(Buffer.from(json))).toString();
    return json;
  }

  #hideIn(bytes: Buffer): Buffer {
    const pieces: Buffer[] = [];
    let name = "";
    let kept = 0;
    let start = bytes.indexOf(quote);
    while (start >= 0 && start < bytes.length) {
      const end = Math.max(start + 1, skipString(bytes, start));
      const isName = bytes[skipSpace(bytes, end)] === colon;
      if (isName) name = nameAt(bytes, start, end);
      if (isName || !texts.has(name)) {
        pieces.push(bytes.subarray(kept, start), this.#hideInText(bytes.subarray(start, end)));
        kept = end;
      }
      start = bytes.indexOf(quote, end);
    }
    return Buffer.concat([...pieces, bytes.subarray(kept)]);
  }

  #hideInText(text: Buffer): Buffer {
    for (const key of this.#bytes) {
      const at = text.indexOf(key);
      if (at < 0) continue;
      return Buffer.concat([text.subarray(0, at), instead, this.#hideInText(text.subarray(at + key.length))]);
    }
    return text;
  }
}

function isDocument(bytes: Buffer): boolean {
  const first = bytes[skipSpace(bytes, 0)];
  return first === openBrace || first === openBracket;
}
