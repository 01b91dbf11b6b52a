import { Buffer } from "node:buffer";
import { runtime } from "../runtime/this-runtime.js";

const prefix = "req_";
const uuidBytes = 16;

/** Random bytes are fetched for this many ids at once. */
const atOnce = 128 * uuidBytes;

const digits = Buffer.from("0123456789abcdef");

/** The index of the two digits of each byte. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34].map((place) => prefix.length + place);

/** The ids of a gateway's requests. */
export class RequestIds {
  readonly #text = Buffer.from(`${prefix}00000000-0000-4000-8000-000000000000`);
  #random: Uint8Array = new Uint8Array();
  #used = 0;

  /**
   * A new id: `req_` and a random UUID (RFC 9562, version 4). `crypto.randomUUID` returns a rope of small strings, which
   * must be flattened before the id can be read or hashed. This function avoids that.
   */
  next(): string {
    if (this.#used === this.#random.length) {
      this.#random = runtime.randomBytes(atOnce);
      this.#used = 0;
    }
    const text = this.#text;
    const random = this.#random;
    for (let index = 0; index < uuidBytes; index++) {
      let byte = random[this.#used++] as number;
      if (index === 6) byte = (byte & 0x0f) | 0x40;
      if (index === 8) byte = (byte & 0x3f) | 0x80;
      const place = places[index] as number;
      text[place] = digits[byte >> 4] as number;
      text[place + 1] = digits[byte & 15] as number;
    }
    return text.toString("latin1");
  }
}
