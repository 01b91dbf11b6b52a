import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { StreamProgress } from "../../prices/progress.js";
import type { StreamCodec } from "../../protocols/shared/stream-codec.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { keepAliveComment } from "../../wire/plain-event.js";
import { type Outgoing, wholeOutgoing } from "../../wire/slices.js";

/** How a stream is collected for guards. */
export interface CollectOptions {
  /** Whether its client gets nothing before the verdict. */
  readonly holds: boolean;
  /** The most that is collected, in bytes. */
  readonly maxBytes: number;
  /** Called when there is more. @throws GatewayError where the answer must not go out unchecked. */
  readonly overran: () => void;
  /** Called for each event of which the client gets nothing for now. It may break the call off. */
  readonly heldBack: () => void;
  /** A codec of the same exchange that has read nothing. */
  readonly fresh: () => StreamCodec;
}

/**
 * Collects what a client gets of a stream, for the host's guards. It has no shortcut: each event is parsed, and the bytes
 * are the same.
 */
export class GuardedCodec implements StreamCodec {
  /** Resolves when there is something for the client. */
  readonly begun: Promise<void>;
  readonly #codec: StreamCodec;
  readonly #options: CollectOptions;
  readonly #pieces: Uint8Array[] = [];
  #holds: boolean;
  #length = 0;
  #isOverrun = false;
  #hasEnded = false;
  #begin = (): void => {};

  constructor(codec: StreamCodec, options: CollectOptions) {
    this.#codec = codec;
    this.#options = options;
    this.#holds = options.holds;
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  get progress(): StreamProgress {
    return this.#codec.progress;
  }

  /** Whether its client has got nothing of it so far. */
  get holds(): boolean {
    return this.#holds;
  }

  /** All that the client gets, or has got. @throws Error when it was too much to be collected. */
  get collected(): Uint8Array {
    if (this.#isOverrun) throw new Error(`The answer is over ${this.#options.maxBytes} bytes: too large for guards.`);
    return Buffer.concat(this.#pieces);
  }

  event(event: ServerSentEvent): Uint8Array | undefined {
    const passed = this.#pass(whole(this.#codec.event(event)));
    if (this.#holds) this.#options.heldBack();
    return passed;
  }

  whole(body: Uint8Array): Uint8Array | undefined {
    return this.#pass(whole(this.#codec.whole(body)));
  }

  /** What ends the client's stream, if it is not held. */
  end(): Uint8Array {
    const closing = wholeOutgoing(this.#codec.end());
    const passed = this.#pass(closing);
    this.#hasEnded = true;
    return passed ?? new Uint8Array();
  }

  /** What was held must not get out by an error that repeats it. */
  fault(error: GatewayError): Uint8Array {
    return (this.#holds ? this.#options.fresh() : this.#codec).fault(error);
  }

  /** Before its first event, and behind its last, a stream has comments alone. */
  keepAlive(): Uint8Array {
    return this.#holds || this.#hasEnded ? keepAliveComment : this.#codec.keepAlive();
  }

  #pass(bytes: Uint8Array | undefined): Uint8Array | undefined {
    if (bytes === undefined || bytes.length === 0) return bytes;
    this.#begin();
    if (this.#isOverrun) return bytes;
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    const wasHeld = this.#holds;
    if (this.#length > this.#options.maxBytes) return this.#overrun(wasHeld, bytes);
    return wasHeld ? undefined : bytes;
  }

  #overrun(wasHeld: boolean, bytes: Uint8Array): Uint8Array {
    this.#isOverrun = true;
    const held = wasHeld ? Buffer.concat(this.#pieces) : bytes;
    this.#pieces.length = 0;
    this.#options.overran();
    this.#holds = false;
    return held;
  }
}

/** Guards read all of it, so that nothing can be left to be written later. */
function whole(sent: Outgoing | undefined): Uint8Array | undefined {
  return sent && wholeOutgoing(sent);
}
