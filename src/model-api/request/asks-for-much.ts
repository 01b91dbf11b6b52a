import { asBuffer } from "../../wire/as-buffer.js";
import { type JsonMember, type Scalar, valueAt } from "../../wire/json-members.js";
import type { JsonRequest } from "./json-request.js";

/** The members that ask for the probabilities of tokens, and what they say where they do not. */
const idle: Readonly<Record<string, readonly (Scalar | undefined)[]>> = {
  logprobs: [false, null],
  top_logprobs: [0, null],
  prompt_logprobs: [null],
};

/**
 * Whether a request asks for the probabilities of tokens, of which a response can have a hundred times the size of its texts, or
 * for images and sound beside its texts.
 */
export function asksForMuch({ body, members }: Pick<JsonRequest, "body" | "members">): boolean {
  return members.some((member) => {
    if (member.name === "modalities") return asksForMedia(body, member);
    return Object.hasOwn(idle, member.name) && idle[member.name]?.includes(valueAt(body, member)) === false;
  });
}

function asksForMedia(body: Uint8Array, { start, end }: JsonMember): boolean {
  const modalities: unknown = JSON.parse(asBuffer(body).toString("utf8", start, end));
  return Array.isArray(modalities) && modalities.some((modality) => modality !== "text");
}
