import { connect } from "node:net";
import { MessageReader } from "./message-reader.mjs";

const lineFeed = 0x0a;

/**
 * A connection that sends the same request again and again, as soon as the answer to the last one has ended. With
 * `expected.firstByte`, a sample is the time to the answer's first byte of content instead of to its end.
 */
export class LoadConnection {
  busy = false;
  events = 0;
  #target;
  #observer;
  #socket;
  #closing = false;
  #sentAt = 0;
  #head = "";
  #bodyBytes = 0;
  #body = [];
  #endedWithLineFeed = false;

  /** @param target - `port`, what gives the bytes of the `nextRequest`, what is `expected`, and `keepBody` for {@link answer}. */
  constructor(target, observer) {
    this.#target = target;
    this.#observer = observer;
  }

  get answer() {
    return { head: this.#head, body: Buffer.concat(this.#body).toString() };
  }

  open() {
    const reader = new MessageReader({
      onHead: (head) => {
        this.#head = head;
      },
      onBody: (bytes, start, end) => this.#readBody(bytes, start, end),
      onEnd: () => this.#ended(),
    });
    const socket = connect({ host: "127.0.0.1", port: this.#target.port, noDelay: true });
    this.#socket = socket;
    socket.on("data", (bytes) => reader.read(bytes));
    socket.on("error", (error) => this.#fail(error.message));
    socket.on("close", () => this.#closed());
    this.#send();
  }

  close() {
    this.#closing = true;
    this.#socket.destroy();
  }

  #send() {
    this.busy = true;
    this.#bodyBytes = 0;
    this.events = 0;
    this.#sentAt = performance.now();
    this.#socket.write(this.#target.nextRequest());
  }

  #readBody(bytes, start, end) {
    const { expected, keepBody } = this.#target;
    if (this.#bodyBytes === 0 && expected?.firstByte) this.#observer.sample(performance.now() - this.#sentAt);
    this.#bodyBytes += end - start;
    if (keepBody) this.#body.push(Buffer.from(bytes.subarray(start, end)));
    if (keepBody || expected?.countEvents) this.#countEvents(bytes, start, end);
  }

  /** Counts blank lines, also one that is split between two pieces. */
  #countEvents(bytes, start, end) {
    let count = this.#endedWithLineFeed && bytes[start] === lineFeed ? 1 : 0;
    let position = bytes.indexOf("\n\n", start, "latin1");
    while (position >= 0 && position < end - 1) {
      count++;
      position = bytes.indexOf("\n\n", position + 2, "latin1");
    }
    this.#endedWithLineFeed = bytes[end - 1] === lineFeed && bytes[end - 2] !== lineFeed;
    this.events += count;
    if (count > 0) this.#observer.event(count);
  }

  #ended() {
    this.busy = false;
    const { expected } = this.#target;
    if (expected !== undefined) {
      const status = this.#head.slice(9, 12);
      if (status !== expected.status) this.#observer.failed(`status ${status} instead of ${expected.status}`);
      else if (this.#bodyBytes < expected.bodyBytes) this.#observer.failed(`only ${this.#bodyBytes} bytes of content`);
      else if (!expected.firstByte) this.#observer.sample(performance.now() - this.#sentAt);
    }
    this.#observer.answered(this.#bodyBytes);
    if (this.#observer.running) this.#send();
    else this.#observer.idle();
  }

  #fail(reason) {
    if (!this.#closing) this.#observer.failed(reason);
  }

  #closed() {
    if (this.#closing) return;
    // A server may close between two answers; only one that is missing is a failure.
    if (this.busy) this.#fail("the connection was closed before the answer's end");
    this.busy = false;
    if (this.#observer.running) this.open();
    else this.#observer.idle();
  }
}
