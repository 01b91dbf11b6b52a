import { Buffer } from "node:buffer";
import { TooLargeError, withoutByteOrderMark } from "../../wire/bytes.js";
import { skipSpace } from "../../wire/json-members.js";
import type { RelayLimits } from "../call-services.js";

/**
 * Collects a JSON body or a page that an upstream sends in reply to a request for a stream. The body's first byte
 * decides: the content type is often wrong.
 */
export class JsonDocument {
  readonly #maxBytes: number;
  readonly #option: string;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  /** It is read in one go, as an event is. */
  constructor({ maxResponseBytes, maxEventBytes }: Pick<RelayLimits, "maxResponseBytes" | "maxEventBytes">) {
    this.#maxBytes = Math.min(maxResponseBytes, maxEventBytes);
    this.#option = maxEventBytes < maxResponseBytes ? "maxEventBytes, in place of a stream" : "maxResponseBytes";
  }

  get length(): number {
    return this.#length;
  }

  /** All bytes so far. */
  get bytes(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }

  /**
   * @returns `false` when the body is a stream of events.
   * @throws TooLargeError
   */
  take(bytes: Uint8Array): boolean {
    if (this.#length === 0) {
      const first = firstByte(bytes);
      // White space before anything else has no meaning in either format. Some servers send it while the model works.
      if (first === undefined) return true;
      if (first !== 0x7b && first !== 0x5b && first !== 0x3c) return false;
    }
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) {
      throw new TooLargeError(`Its answer is over ${this.#maxBytes} bytes (${this.#option}).`);
    }
    this.#pieces.push(bytes);
    return true;
  }
}

/** The first byte after a byte order mark and white space. No line of an event stream begins with a bracket. */
function firstByte(bytes: Uint8Array): number | undefined {
  const text = withoutByteOrderMark(bytes);
  return text[skipSpace(text, 0)];
}
