const endOfHead = Buffer.from("\r\n\r\n");
const lineFeed = 0x0a;

/**
 * Reads HTTP/1.1 messages off a connection, just far enough to know where one ends. The load generator and the upstream
 * share one processor: node:http on both sides would take more of it than the gateways that are measured.
 */
export class MessageReader {
  #listener;
  #unread = null;
  #state = "head";
  #remaining = 0;

  /** @param listener - is told `onHead(head)`, `onBody(bytes, start, end)` and `onEnd()`. */
  constructor(listener) {
    this.#listener = listener;
  }

  read(received) {
    const bytes = this.#unread === null ? received : Buffer.concat([this.#unread, received]);
    this.#unread = null;
    let position = 0;
    while (position < bytes.length) {
      const next = this.#step(bytes, position);
      if (next < 0) {
        this.#unread = bytes.subarray(position);
        return;
      }
      position = next;
    }
  }

  /** @returns the position behind what was read, or -1 when more bytes are needed. */
  #step(bytes, position) {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes, position);
      case "body":
        return this.#readBody(bytes, position, "head");
      case "chunk size":
        return this.#readChunkSize(bytes, position);
      case "chunk":
        return this.#readBody(bytes, position, "chunk end");
      default:
        return this.#readLineEnd(bytes, position);
    }
  }

  #readHead(bytes, position) {
    const end = bytes.indexOf(endOfHead, position);
    if (end < 0) return -1;
    const head = bytes.latin1Slice(position, end + 2).toLowerCase();
    this.#listener.onHead(head);
    this.#remaining = contentLength(head);
    if (this.#remaining > 0) this.#state = "body";
    else if (head.includes("\r\ntransfer-encoding: chunked\r\n")) this.#state = "chunk size";
    else this.#listener.onEnd();
    return end + endOfHead.length;
  }

  #readBody(bytes, position, nextState) {
    const end = Math.min(bytes.length, position + this.#remaining);
    this.#listener.onBody(bytes, position, end);
    this.#remaining -= end - position;
    if (this.#remaining === 0) {
      this.#state = nextState;
      if (nextState === "head") this.#listener.onEnd();
    }
    return end;
  }

  #readChunkSize(bytes, position) {
    const end = bytes.indexOf(lineFeed, position);
    if (end < 0) return -1;
    this.#remaining = Number.parseInt(bytes.latin1Slice(position, end), 16);
    this.#state = this.#remaining === 0 ? "last line" : "chunk";
    return end + 1;
  }

  #readLineEnd(bytes, position) {
    if (bytes.length < position + 2) return -1;
    if (this.#state === "last line") {
      this.#state = "head";
      this.#listener.onEnd();
    } else {
      this.#state = "chunk size";
    }
    return position + 2;
  }
}

function contentLength(head) {
  const name = "\r\ncontent-length: ";
  const start = head.indexOf(name);
  return start < 0 ? 0 : Number.parseInt(head.slice(start + name.length, start + name.length + 12), 10);
}
