import type { AnswerText } from "../answers/answer-format.js";
import type { ContentMessage, ContentPart } from "./call-content.js";
import type { ContentRoom } from "./content-room.js";

/** The messages of a stream, one for each choice. @param texts - in their order. */
export function streamedMessages(texts: readonly AnswerText[], room: ContentRoom): ContentMessage[] {
  const choices = new Map<string, ContentMessage>();
  for (const { path, text } of texts) {
    if (!room.takesOne()) break;
    const [choice = ""] = /^choices\[\d+\]/.exec(path) ?? [];
    const message = choices.get(choice) ?? { role: "assistant", parts: [] };
    choices.set(choice, message);
    addText(message.parts, path, room.take(text));
  }
  return [...choices.values()];
}

function addText(parts: ContentPart[], path: string, text: string): void {
  const last = parts.at(-1);
  if (path.endsWith(".name")) parts.push({ type: "tool_call", name: text });
  else if (/\.(?:arguments|input)$/.test(path)) {
    if (last?.type === "tool_call") last.arguments = (last.arguments ?? "") + text;
    else parts.push({ type: "tool_call", arguments: text });
  } else {
    const type = /\.(?:thinking|reasoning\w*|summary)\b/.test(path) ? "reasoning" : "text";
    if (last?.type === type) last.content += text;
    else parts.push({ type, content: text });
  }
}
