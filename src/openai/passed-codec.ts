import { Buffer } from "node:buffer";
import type { GatewayError } from "../errors/gateway-error.js";
import { StreamFault } from "../errors/stream-fault.js";
import type { UpstreamFailureContext } from "../model-api/failure/upstream-failure.js";
import { keepAliveComment } from "../wire/event-frame.js";
import type { ServerSentEvent } from "../wire/event-reader.js";
import { errorEvent } from "./error-event.js";
import { doneEvent, PassedEvent } from "./passed-event.js";

/** The part of a stream's progress that tells its end. */
interface EndingProgress {
  readonly isDone: boolean;
  readonly isComplete: boolean;
  doneCame(): void;
}

const nothing = Buffer.alloc(0);

/** Passes an upstream's events to the client as they come. */
export abstract class PassedCodec<Progress extends EndingProgress, Context extends UpstreamFailureContext> {
  readonly progress: Progress;
  protected readonly context: Context;

  constructor(progress: Progress, context: Context) {
    this.progress = progress;
    this.context = context;
  }

  /** @throws StreamFault, or GatewayError for an error that the upstream sent. */
  event({ data, event }: ServerSentEvent): Uint8Array | undefined {
    const text = data.trim();
    if (this.progress.isDone || text === "") return undefined;
    if (text !== "[DONE]") return this.pass(new PassedEvent({ data: text, event }, this.context), text.length);
    this.progress.doneCame();
    // Clients read nothing behind it: not the error of a stream that has not come to its end.
    return this.progress.isComplete ? this.done() : undefined;
  }

  /**
   * What the client gets for an event.
   * @param length - of its data.
   * @returns `undefined` where there is nothing for the client.
   */
  protected abstract pass(event: PassedEvent, length: number): Uint8Array | undefined;

  /** What the client gets for `[DONE]`. */
  protected done(): Uint8Array | undefined {
    return doneEvent;
  }

  /** @throws StreamFault `incomplete` */
  end(): Uint8Array {
    if (!this.progress.isComplete) throw new StreamFault("incomplete");
    return nothing;
  }

  keepAlive(): Uint8Array {
    return keepAliveComment;
  }

  fault(error: GatewayError): Uint8Array {
    return errorEvent(error);
  }
}
