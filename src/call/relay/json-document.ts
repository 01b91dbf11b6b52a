import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/stream-fault.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { skipSpace } from "../../wire/json-members.js";

/**
 * What an upstream sends that answers a request for a stream with a whole response, with an error inside a 200, or with a
 * page. It is known by how it begins: what its header says of it is as often wrong.
 */
export class JsonDocument {
  readonly #maxBytes: number;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** All that has come of it. */
  get bytes(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }

  /**
   * @returns `false` when it is events that have begun.
   * @throws StreamFault `garbage` when it is too large.
   */
  take(bytes: Uint8Array): boolean {
    if (this.#length === 0) {
      const first = firstByte(bytes);
      // White space before anything else means nothing to either; some servers send it while they think.
      if (first === undefined) return true;
      if (first !== 0x7b && first !== 0x5b && first !== 0x3c) return false;
    }
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) throw new StreamFault("garbage");
    this.#pieces.push(bytes);
    return true;
  }
}

/** Behind a byte order mark and white space. No line of an event stream begins with a bracket. */
function firstByte(bytes: Uint8Array): number | undefined {
  const text = withoutByteOrderMark(bytes);
  return text[skipSpace(text, 0)];
}
