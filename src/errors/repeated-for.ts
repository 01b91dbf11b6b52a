import type { GatewayError } from "./gateway-error.js";
import { RepeatedError } from "./repeated-error.js";

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
