import { invalidType, invalidValue } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/target-limit.js";
import { isFileStore, kindOfAddress } from "../../model-api/media/media-address.js";
import { imageMedia, noMedia, unknownMedia } from "../../model-api/media/media-kind.js";
import { isRecord } from "../../wire/is-record.js";
import type { AISDKLanguageModel, SupportedUrls } from "../ai-sdk-model.js";
import { readBase64, readDataURL } from "../data-url.js";
import { cacheOptions, type Part } from "./prompt-parts.js";

interface Media {
  mediaType: string;
  /** The file, or its URL. Never a text: packages take some for addresses or ids. */
  data: Uint8Array | URL;
  filename?: string;
}

/** An image, audio or file. Nothing is ever downloaded: a URL goes to models that read it themselves, or is refused. */
export async function toFilePart(
  part: Record<string, unknown>,
  param: string,
  model: AISDKLanguageModel,
): Promise<Part> {
  const { mediaType, data, filename } = await readMedia(part, param, model);
  return {
    type: "file",
    mediaType,
    data: model.specificationVersion === "v2" || model.specificationVersion === "v3" ? data : tagged(data),
    ...(filename === undefined ? undefined : { filename }),
    ...cacheOptions(part),
  };
}

function tagged(data: Uint8Array | URL): Record<string, unknown> {
  return data instanceof URL ? { type: "url", url: data } : { type: "data", data };
}

async function readMedia(part: Record<string, unknown>, param: string, model: AISDKLanguageModel): Promise<Media> {
  switch (part["type"]) {
    case "image_url": {
      const image = part["image_url"];
      const url = isRecord(image) ? image["url"] : image;
      if (typeof url !== "string") throw invalidType(`${param}.image_url.url`, "a string");
      return readImage(url, `${param}.image_url.url`, model);
    }
    case "input_audio": {
      const audio = part["input_audio"];
      if (!isRecord(audio) || typeof audio["data"] !== "string") {
        throw invalidType(`${param}.input_audio.data`, "a string of base64");
      }
      const format = String(audio["format"] ?? "wav");
      if (!/^[\w.+-]{1,32}$/.test(format)) throw invalidValue(`${param}.input_audio.format`, "This is no format.");
      const data = readBase64(audio["data"], `${param}.input_audio.data`);
      return { mediaType: format === "mp3" ? "audio/mpeg" : `audio/${format}`, data };
    }
    case "file":
      return readFile(part["file"], `${param}.file`, model);
    default:
      throw beyondTarget(
        `${param}.type`,
        "This model takes parts of type 'text', 'image_url', 'input_audio' and 'file'.",
      );
  }
}

async function readFile(file: unknown, param: string, model: AISDKLanguageModel): Promise<Media> {
  if (!isRecord(file)) throw invalidType(param, "an object");
  const { file_data: data, filename } = file;
  if (typeof data !== "string") {
    throw beyondTarget(`${param}.file_data`, "A file must come with its data: this model knows no 'file_id'.");
  }
  const named = typeof filename === "string" ? { filename } : {};
  const path = `${param}.file_data`;
  if (!/^(data|https?):/i.test(data)) return { mediaType: "application/pdf", data: readBase64(data, path), ...named };
  return { ...(await readURL(data, "application/pdf", path, model)), ...named };
}

/** It is held as an image. @throws GatewayError 400 for what says that it is something else. */
async function readImage(url: string, param: string, model: AISDKLanguageModel): Promise<Media> {
  const image = await readURL(url, "image/*", param, model);
  const isImage = image.mediaType.startsWith("image/") && [noMedia, imageMedia].includes(kindOfAddress(url));
  if (!isImage)
    throw invalidValue(param, "This is no image. Send other files in parts of type 'file' or 'input_audio'.");
  return image;
}

async function readURL(url: string, mediaType: string, param: string, model: AISDKLanguageModel): Promise<Media> {
  if (/^data:/i.test(url)) return readDataURL(url, mediaType, param);
  if (!URL.canParse(url)) throw invalidValue(param, "This is no URL.");
  if (isFileStore(url) || kindOfAddress(url) === unknownMedia) {
    throw beyondTarget(
      param,
      "Files in accounts of providers, and videos, cannot be set here. Send the content itself, as a 'data:' URL.",
    );
  }
  if (!isSupported(url, mediaType, await model.supportedUrls)) {
    throw beyondTarget(param, "This model cannot fetch that URL: send the content itself, as a 'data:' URL.");
  }
  return { mediaType, data: new URL(url) };
}

/** Longer than the addresses that servers take. The expressions of a model are its maker's, and may look at each end from each beginning. */
const longestURL = 8192;

/** By the AI SDK's rule: of the media type or of all of its kind, in lower case. */
function isSupported(url: string, mediaType: string, supported: SupportedUrls): boolean {
  if (url.length > longestURL) return false;
  const kind = mediaType.split("/")[0] ?? "";
  return Object.entries(supported).some(([key, patterns]) => {
    const applies = key === "*" || key === "*/*" || key.toLowerCase() === mediaType || key.startsWith(`${kind}/`);
    return (
      applies &&
      patterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace("g", "")).test(url.toLowerCase()))
    );
  });
}
