import { GatewayError } from "./gateway-error.js";

/** An error response without what differs from request to request. */
export interface WrittenError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A failure that is answered with the same words as often as a client provokes it, so that its answer is written once. Many
 * requests share one: it never reaches the host's own code.
 */
export class RepeatedError extends GatewayError {
  /** @param error - whatever differs from request to request is not in it. */
  static of(error: GatewayError): RepeatedError {
    return new RepeatedError(error.message, error);
  }

  /** What clients get, by what it was written with. */
  #answers: Map<object, WrittenError> | undefined;

  /** @param protocol - what `write` writes with. */
  answer(protocol: object, write: () => WrittenError): WrittenError {
    this.#answers ??= new Map();
    const known = this.#answers.get(protocol);
    if (known !== undefined) return known;
    const answer = write();
    this.#answers.set(protocol, answer);
    return answer;
  }
}
