import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";
import type { ReadResponse, ResponseJson } from "../shared/response-format.js";
import { responseTexts } from "../shared/response-texts.js";

/** The choices of a completion, or of a chunk of one. */
export function choicesOf({ choices }: ResponseJson): Record<string, unknown>[] {
  return Array.isArray(choices) ? choices.filter(isRecord) : [];
}

/** Reads a whole completion. @param member - what of a choice the model has written. */
export function readChoices(json: ResponseJson, member: "message" | "text"): ReadResponse {
  const choices = choicesOf(json);
  return {
    texts: choices.flatMap((choice, at) => responseTexts(choice[member], `choices[${at}].${member}`)),
    finishReasons: choices.flatMap(({ finish_reason: reason }) => (typeof reason === "string" ? [reason] : [])),
    json,
  };
}

/** A stream of these choices, and of usage where there is any: only clients that asked for it have it. */
export function streamOfChoices(head: object, choices: unknown, usage: unknown): Buffer {
  const chunks = [{ ...head, choices }, ...(usage === undefined ? [] : [{ ...head, choices: [], usage }])];
  return Buffer.from(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
}
