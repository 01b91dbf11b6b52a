import type { AnswerJson } from "./answer-format.js";

/** The members of these names, as far as they are there. */
export function pickMembers(json: AnswerJson, names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (json[name] !== undefined && json[name] !== null) picked[name] = json[name];
  return picked;
}
