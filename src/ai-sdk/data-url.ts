import { Buffer } from "node:buffer";
import { invalidValue } from "../errors/gateway-error.js";
import { standardType } from "../model-api/media/standard-type.js";

export interface DataURL {
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
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
  const [mediaType, ...parameters] = url.slice("data:".length, comma).split(";");
  const content = url.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === "base64");
  return {
    mediaType: mediaType === undefined || mediaType === "" ? otherwise : standardType(mediaType),
    data: isBase64 ? content : Buffer.from(decode(content, param)).toString("base64"),
  };
}

function decode(text: string, param: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidValue(param, "This is no valid 'data:' URL.");
  }
}
