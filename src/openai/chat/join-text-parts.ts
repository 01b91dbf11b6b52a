import { isRecord } from "../../wire/is-record.js";

/**
 * Mistral's reasoning models write `content` as a list of texts and thoughts. Clients require a string. This sets
 * `content` to the joined texts and `reasoning_content` to the thoughts, in place. A list that contains anything else
 * stays as it is.
 *
 * @returns whether anything was changed.
 */
export function joinTextParts(message: Record<string, unknown>): boolean {
  const { content } = message;
  if (!Array.isArray(content)) return false;
  let text = "";
  let thought = "";
  for (const part of content) {
    const thoughts = thinkingOf(part);
    if (thoughts !== undefined) thought += thoughts;
    else if (isTextPart(part)) text += part.text;
    else return false;
  }
  message["content"] = text;
  if (thought !== "" && message["reasoning_content"] === undefined) message["reasoning_content"] = thought;
  return true;
}

/** The text of `{"type":"thinking","thinking":[{"type":"text","text":"…"}]}`; `thinking` may also be a string. */
function thinkingOf(part: unknown): string | undefined {
  if (!isRecord(part) || part["type"] !== "thinking") return undefined;
  const { thinking } = part;
  if (typeof thinking === "string") return thinking;
  if (!Array.isArray(thinking)) return undefined;
  return thinking.map((piece) => (isTextPart(piece) ? piece.text : "")).join("");
}

function isTextPart(part: unknown): part is { text: string } {
  return isRecord(part) && part["type"] === "text" && typeof part["text"] === "string";
}
