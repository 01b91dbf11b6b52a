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

  /** What clients get, by their protocols. */
  #answers: Map<object, WrittenError> | undefined;

  /** What was kept for clients of a protocol. */
  answerFor(protocol: object): WrittenError | undefined {
    return this.#answers?.get(protocol);
  }

  /** @returns the answer */
  keep(protocol: object, answer: WrittenError): WrittenError {
    this.#answers ??= new Map();
    this.#answers.set(protocol, answer);
    return answer;
  }
}

/**
 * Gives the same error as long as it is about the same text: who repeats a request repeats what is wrong with it. The last
 * text alone is kept, whatever clients send.
 */
export function repeatedFor<Text extends string | null>(
  make: (text: Text) => GatewayError,
): (text: Text) => RepeatedError {
  let last: { readonly text: Text; readonly error: RepeatedError } | undefined;
  return (text) => {
    if (last === undefined || last.text !== text) last = { text, error: RepeatedError.of(make(text)) };
    return last.error;
  };
}
