import { invalidType } from "../../errors/gateway-error.js";
import { isRecord } from "../../wire/is-record.js";
import { type BlockPart, blockParts, isTextPart, textsOf } from "./block-parts.js";
import { recordsIn } from "./request-elements.js";

/** What a tool has answered. */
export interface ToolResult {
  /** The call's id, as the client sent it. */
  readonly id: string;
  readonly text: string;
  /** Images and files: chat completions take them from users only. */
  readonly media: readonly BlockPart[];
}

/** Clients say themselves that it is an error, some of them. */
const saysError = /^\s*(?:<tool_use_error>|error\b)/i;

/** @param path - of the block. @throws GatewayError 400 when the target cannot be shown it. */
export function readToolResult(block: Record<string, unknown>, path: string): ToolResult {
  const { tool_use_id: id, content, is_error: isError } = block;
  if (isRecord(content)) throw invalidType(`${path}.content`, "a valid string or list");
  const parts =
    typeof content === "string"
      ? [{ type: "text", text: content }]
      : recordsIn(content).flatMap((inner, index) => blockParts(inner, `${path}.content[${index}]`));
  const media = parts.filter((part) => !isTextPart(part));
  const marks = media.map(({ type }) => ({ text: type === "image_url" ? "[image]" : "[file]" }));
  const text = textsOf([...parts.filter(isTextPart), ...marks]);
  const prefix = isError === true && !saysError.test(text) ? "Error: " : "";
  return { id: String(id), text: prefix + text, media };
}
