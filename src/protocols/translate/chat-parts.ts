import { invalidType } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/refusal.js";
import { isRecord } from "../../wire/is-record.js";

/** A content part of a chat message. */
export type ChatPart = Readonly<Record<string, unknown>>;

/**
 * The parts of a content as chat messages have them.
 *
 * @param path - where the content stands in the request.
 * @throws GatewayError 400
 */
export function toChatParts(content: unknown, path: string): ChatPart[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw invalidType(path, "a string or an array");
  return content.map((part, index) => toChatPart(part, `${path}[${index}]`));
}

/** What an assistant said: its texts, and where it refused. Of its other parts a chat knows nothing. */
export function spokenParts(content: unknown, path: string): ChatPart[] {
  if (!Array.isArray(content)) return toChatParts(content, path);
  return content.flatMap((part): ChatPart[] => {
    if (!isRecord(part)) return [];
    const { text, refusal } = part;
    if (typeof text === "string") return [{ type: "text", text }];
    return typeof refusal === "string" ? [{ type: "refusal", refusal }] : [];
  });
}

function toChatPart(part: unknown, path: string): ChatPart {
  if (!isRecord(part)) throw invalidType(path, "an object");
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
    case "reasoning_text":
      return { type: "text", text: textOf(part, "text", path) };
    case "refusal":
      return { type: "refusal", refusal: textOf(part, "refusal", path) };
    case "input_image":
    case "computer_screenshot":
      return imagePart(part, path);
    case "input_file":
      return filePart(part, path);
    case "input_audio":
      if (!isRecord(part["input_audio"])) throw invalidType(`${path}.input_audio`, "an object");
      return { type: "input_audio", input_audio: part["input_audio"] };
    default:
      throw beyondTarget(`${path}.type`, `'${path}.type' is no content that this model can be sent.`);
  }
}

function textOf(part: Record<string, unknown>, name: string, path: string): string {
  const text = part[name];
  if (typeof text !== "string") throw invalidType(`${path}.${name}`, "a string");
  return text;
}

function imagePart({ image_url: image, file_id: id, detail }: Record<string, unknown>, path: string): ChatPart {
  const url = isRecord(image) ? image["url"] : image;
  if (typeof url !== "string" || url === "") {
    if (typeof id === "string") throw noUpload(`${path}.file_id`, "image_url");
    throw invalidType(`${path}.image_url`, "a string");
  }
  const shown = detail === "original" ? "high" : detail;
  return { type: "image_url", image_url: { url, ...(typeof shown === "string" ? { detail: shown } : undefined) } };
}

function filePart(part: Record<string, unknown>, path: string): ChatPart {
  const { file_data: data, filename } = part;
  if (typeof data === "string" && data !== "") {
    return { type: "file", file: { ...(typeof filename === "string" ? { filename } : undefined), file_data: data } };
  }
  for (const name of ["file_id", "file_url"]) {
    if (typeof part[name] === "string") throw noUpload(`${path}.${name}`, "file_data");
  }
  throw invalidType(`${path}.file_data`, "a string");
}

/** Another target may speak the API itself. */
function noUpload(param: string, instead: string) {
  return beyondTarget(
    param,
    `'${param}' is not supported with this model. Send '${instead}'.`,
    "unsupported_parameter",
  );
}

/** A plain text where all parts are texts: not every server takes a list. */
export function toContent(parts: readonly ChatPart[], separator: string): string | readonly ChatPart[] {
  return parts.every(isChatText) ? parts.map(({ text }) => text).join(separator) : parts;
}

export function isChatText(part: ChatPart): part is { type: "text"; text: string } {
  return part["type"] === "text";
}
