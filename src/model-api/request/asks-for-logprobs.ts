import { type Scalar, valueAt } from "../../wire/json-members.js";
import type { JsonRequest } from "./json-request.js";

/** The members that ask for them, and what they say where they do not. */
const idle: Readonly<Record<string, readonly (Scalar | undefined)[]>> = {
  logprobs: [false, null],
  top_logprobs: [0, null],
  prompt_logprobs: [null],
};

/**
 * Whether a request asks for the probabilities of tokens, of which a response can have a hundred times the size of its texts.
 */
export function asksForLogprobs({ body, members }: Pick<JsonRequest, "body" | "members">): boolean {
  return members.some(
    (member) => Object.hasOwn(idle, member.name) && idle[member.name]?.includes(valueAt(body, member)) === false,
  );
}
