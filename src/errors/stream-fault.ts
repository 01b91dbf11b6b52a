/** `garbage`: no events of this protocol, or more than any response has. `incomplete`: the stream stopped before its end. */
export type StreamFaultReason = "garbage" | "incomplete";

/** The upstream's stream cannot be passed on any further. */
export class StreamFault extends Error {
  override readonly name = "StreamFault";
  readonly reason: StreamFaultReason;

  constructor(reason: StreamFaultReason) {
    super(`The upstream's stream is faulty: ${reason}.`);
    this.reason = reason;
  }
}
