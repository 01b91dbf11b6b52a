import { invalidType } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/refusal.js";
import { isRecord } from "../../wire/is-record.js";
import { recordsIn } from "./request-elements.js";

/** A content part of a chat completion. */
export type BlockPart = Record<string, unknown>;

/**
 * What a block of a user's message, or of a tool's result, is in a chat completion. Blocks of which chat completions know
 * nothing are nothing.
 *
 * @param path - of the block.
 * @throws GatewayError 400 when the target cannot be shown it.
 */
export function blockParts(block: Record<string, unknown>, path: string): BlockPart[] {
  switch (block["type"]) {
    case "text":
      return textPart(block["text"]);
    case "image":
      return [imagePart(block["source"], path)];
    case "document":
      return documentParts(block, path);
    case "search_result":
      return textPart(searchResultText(block));
    case "tool_reference":
      return textPart(`The tool ${String(block["tool_name"] ?? block["name"])} is now available.`);
    default:
      return [];
  }
}

/** Parts as the content of a message: a text, where all is text. */
export function toBlockContent(parts: readonly BlockPart[]): string | readonly BlockPart[] {
  return parts.every(isTextPart) ? textsOf(parts) : parts;
}

/** The texts among the parts, as one. */
function textsOf(parts: readonly BlockPart[]): string {
  return parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n\n");
}

function isTextPart(part: BlockPart): boolean {
  return part["type"] === "text";
}

/** Empty texts are refused by some servers. */
function textPart(text: unknown): BlockPart[] {
  return typeof text !== "string" || text === "" ? [] : [{ type: "text", text }];
}

function imagePart(source: unknown, path: string): BlockPart {
  const url = isRecord(source) ? imageURL(source) : undefined;
  if (url === undefined) throw beyondTarget(`${path}.source`, "this model takes images as base64 or by a URL only");
  return { type: "image_url", image_url: { url } };
}

function imageURL({ type, media_type: mediaType, data, url }: Record<string, unknown>): string | undefined {
  if (type === "url" && typeof url === "string") return url;
  if (type !== "base64" || typeof data !== "string" || typeof mediaType !== "string") return undefined;
  return `data:${mediaType};base64,${data}`;
}

function documentParts(block: Record<string, unknown>, path: string): BlockPart[] {
  const { title, context, source } = block;
  const heading = [title, context].filter((text) => typeof text === "string" && text !== "").join("\n");
  const { type, data, content, media_type: mediaType } = isRecord(source) ? source : {};
  if (type === "text" && typeof data === "string") return textPart(heading === "" ? data : `${heading}\n\n${data}`);
  if (type === "content") {
    const parts =
      typeof content === "string"
        ? textPart(content)
        : recordsIn(content).flatMap((inner, index) => blockParts(inner, `${path}.source.content[${index}]`));
    return [...textPart(heading), ...parts];
  }
  if (type !== "base64" || typeof data !== "string") {
    throw beyondTarget(`${path}.source`, "this model takes documents as text or base64 only");
  }
  // Whether the model reads files is its server's to say, as for any client. Agents could not go on after a refusal.
  const filename = typeof title === "string" && title !== "" ? title : "document.pdf";
  const file = { filename, file_data: `data:${String(mediaType ?? "application/pdf")};base64,${data}` };
  return [...textPart(typeof context === "string" ? context : ""), { type: "file", file }];
}

function searchResultText({ title, source, content }: Record<string, unknown>): string {
  return [title, source, ...recordsIn(content).map(({ text }) => text)]
    .filter((text) => typeof text === "string" && text !== "")
    .join("\n");
}

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
