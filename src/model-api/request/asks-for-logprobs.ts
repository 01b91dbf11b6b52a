import type { JsonMember } from "../../wire/json-members.js";

const names: ReadonlySet<string> = new Set(["logprobs", "top_logprobs", "prompt_logprobs"]);

/** Whether a request asks for the probabilities of tokens, of which a response can have a hundred times the size of its texts. */
export function asksForLogprobs(members: readonly JsonMember[]): boolean {
  return members.some(({ name }) => names.has(name));
}
