import { isRecord } from "../../wire/is-record.js";

/**
 * Gives a message or delta whose `content` is a list of texts and thoughts, as Mistral's reasoning models write it, the
 * string that clients insist on, and the thoughts as `reasoning_content`. Changes it in place; leaves a list that holds
 * anything else as it is.
 *
 * @returns whether anything had to be changed.
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

/** `{"type":"thinking","thinking":[{"type":"text","text":"…"}]}`, or with a string. */
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
