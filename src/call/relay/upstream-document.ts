import { Buffer } from "node:buffer";
import { answerToChunk } from "../../openai/chat/answer-to-chunk.js";
import { StreamFault } from "../../openai/chat/chat-stream.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { isRecord } from "../../wire/is-record.js";
import { skipSpace } from "../../wire/json-members.js";
import { parseJson } from "./send.js";

/**
 * What an upstream sends that answers a request for a stream with a whole answer, with an error inside a 200, or with a
 * page. It is known by how it begins: what its header says of it is as often wrong.
 */
export class UpstreamDocument {
  readonly #maxBytes: number;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
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

  /**
   * @returns the JSON of a chunk that says the same.
   * @throws StreamFault `garbage` | GatewayError
   */
  toChunk(): string {
    const body = parseJson(Buffer.concat(this.#pieces));
    if (!isRecord(body)) throw new StreamFault("garbage");
    return JSON.stringify(answerToChunk(body));
  }
}

/** Behind a byte order mark and white space. No line of an event stream begins with a bracket. */
function firstByte(bytes: Uint8Array): number | undefined {
  const text = withoutByteOrderMark(bytes);
  return text[skipSpace(text, 0)];
}
