import { Buffer } from "node:buffer";
import { invalidValue } from "../errors/gateway-error.js";
import { standardType } from "../model-api/media/standard-type.js";

export interface DataURL {
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/**
 * Reads a `data:` URL.
 * @param otherwise - the media type where it names none.
 * @param param - the member that it stands in.
 * @throws GatewayError 400
 */
export function readDataURL(url: string, otherwise: string, param: string): DataURL {
  const comma = url.indexOf(",");
  if (comma < 0) throw invalidValue(param, "This is no valid 'data:' URL.");
  const [mediaType = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const content = url.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === "base64");
  return {
    mediaType: mediaType.trim() === "" ? otherwise : standardType(mediaType),
    data: isBase64 ? readBase64(content, param) : Buffer.from(decode(content, param)),
  };
}

/**
 * The bytes of base64. Packages of the AI SDK take some texts for an address or for the id of a file: they never get one.
 * @throws GatewayError 400 for what is none.
 */
export function readBase64(text: string, param: string): Uint8Array {
  const plain = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  const characters = plain.replace(/={1,2}$/, "").length;
  const bytes = Buffer.from(plain, "base64");
  // What is no base64 is left out by the decoder.
  const isWhole = characters > 0 && characters % 4 !== 1 && bytes.length === Math.floor((characters * 3) / 4);
  if (!isWhole || plain.includes("-") || plain.includes("_")) throw invalidValue(param, "This is no valid base64.");
  return bytes;
}

function decode(text: string, param: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidValue(param, "This is no valid 'data:' URL.");
  }
}
