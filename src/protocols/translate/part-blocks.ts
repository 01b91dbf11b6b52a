import { Buffer } from "node:buffer";
import { beyondTarget } from "../../errors/refusal.js";
import { isRecord } from "../../wire/is-record.js";
import { ownPayloadPrefix } from "../../wire/own-payload.js";
import { standardType } from "../shared/media-kind.js";
import { recordsIn } from "./request-elements.js";

/** A block of a message. */
export type Block = Record<string, unknown>;

const dataURL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i;

/**
 * The blocks of a chat completion's content: a text, or parts.
 * @param path - of the content.
 * @throws GatewayError 400 for a part that Messages cannot hold.
 */
export function contentBlocks(content: unknown, path: string): Block[] {
  if (typeof content === "string") return textBlock(content);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((part, index) => {
    if (!isRecord(part)) return textBlock(part);
    return partBlocks(part, `${path}[${index}]`).map((block) => withCache(block, part["cache_control"]));
  });
}

/** Anthropic refuses texts of nothing but white space. */
export function textBlock(text: unknown): Block[] {
  return typeof text === "string" && /\S/.test(text) ? [{ type: "text", text }] : [];
}

function withCache(block: Block, cacheControl: unknown): Block {
  return isRecord(cacheControl) ? { ...block, cache_control: cacheControl } : block;
}

function partBlocks(part: Record<string, unknown>, path: string): Block[] {
  switch (part["type"]) {
    case "text":
      return textBlock(part["text"]);
    case "refusal":
      return textBlock(part["refusal"]);
    case "image_url":
      return [{ type: "image", source: imageSource(part["image_url"], path) }];
    case "file":
      return [fileBlock(part["file"], path)];
    default:
      throw beyondTarget(
        path,
        `Parts of the type '${String(part["type"]).slice(0, 100)}' are not supported by this model.`,
      );
  }
}

function imageSource(image: unknown, path: string): Block {
  const url = isRecord(image) ? image["url"] : image;
  if (typeof url === "string") {
    const scheme = dataURL.exec(url);
    if (scheme !== null)
      return { type: "base64", media_type: standardType(scheme[1] ?? ""), data: url.slice(scheme[0].length) };
    if (/^https?:/i.test(url)) return { type: "url", url };
  }
  throw beyondTarget(`${path}.image_url`, "This model takes images as base64 in a data URL, or by a URL.");
}

function fileBlock(file: unknown, path: string): Block {
  const { file_data: data, filename } = isRecord(file) ? file : {};
  const scheme = typeof data === "string" ? dataURL.exec(data) : null;
  const mediaType = scheme?.[1]?.toLowerCase() ?? "";
  if (typeof data !== "string" || scheme === null || !/^(?:application\/pdf$|text\/)/.test(mediaType)) {
    throw beyondTarget(`${path}.file`, "This model takes PDF and text files in a data URL.");
  }
  const payload = data.slice(scheme[0].length);
  const title = typeof filename === "string" && filename !== "" ? { title: filename } : undefined;
  if (mediaType === "application/pdf") {
    return { type: "document", source: { type: "base64", media_type: mediaType, data: payload }, ...title };
  }
  const text = Buffer.from(payload, "base64").toString("utf8");
  return { type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title };
}

/**
 * The thinking of an earlier turn that an Anthropic model has signed, as `reasoning_details` carry it. Its server refuses all
 * other thinking.
 */
export function thinkingBlocks(message: Record<string, unknown>): Block[] {
  const details = recordsIn(message["reasoning_details"]).filter(isAnthropic);
  const signed = details.filter(({ type }) => type === "reasoning.text");
  return details.flatMap((detail): Block[] => {
    const { type, data, signature } = detail;
    if (type === "reasoning.encrypted") return typeof data === "string" ? [{ type: "redacted_thinking", data }] : [];
    if (type !== "reasoning.text" || typeof signature !== "string") return [];
    if (signature === "" || signature.startsWith(ownPayloadPrefix)) return [];
    // Some clients keep the text apart: then it is that of the only thought.
    const text = detail["text"] ?? (signed.length === 1 ? message["reasoning_content"] : undefined);
    return [{ type: "thinking", thinking: typeof text === "string" ? text : "", signature }];
  });
}

/** Others have signatures, too, and say whose these are. */
function isAnthropic({ format }: Record<string, unknown>): boolean {
  return typeof format !== "string" || format.startsWith("anthropic");
}
