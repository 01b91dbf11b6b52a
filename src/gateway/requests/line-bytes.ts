import type { LoggedRequest } from "../../books/requests/logged-request.js";

/** What a line takes in memory, about: its names and numbers, and two bytes for each character of what may be long. */
export function lineBytes({ attempts, tags, texts }: LoggedRequest): number {
  let characters = (texts?.request?.length ?? 0) + (texts?.answer?.length ?? 0);
  for (const name in tags) characters += name.length + (tags[name]?.length ?? 0);
  return 1_024 + attempts.length * 256 + 2 * characters;
}
