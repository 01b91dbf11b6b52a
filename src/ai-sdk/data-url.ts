import { Buffer } from "node:buffer";
import { invalidValue } from "../errors/gateway-error.js";
import { standardType } from "../protocols/shared/media-kind.js";

interface DataURL {
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

type Beginning = readonly [offset: number, text: string, type: string];

interface Kind {
  /** What files begin with: at an offset, as Latin-1. */
  readonly beginnings: readonly Beginning[];
  /** Of which nothing is known. */
  readonly otherwise: string;
}

const kinds: Readonly<Record<"audio" | "image", Kind>> = {
  audio: {
    beginnings: [
      [8, "WAVE", "audio/wav"],
      [0, "ID3", "audio/mpeg"],
      [0, "fLaC", "audio/flac"],
      [0, "OggS", "audio/ogg"],
      [0, "\x1aE\xdf\xa3", "audio/webm"],
      [4, "ftyp", "audio/mp4"],
    ],
    otherwise: "audio/mpeg",
  },
  image: {
    beginnings: [
      [0, "\x89PNG", "image/png"],
      [0, "\xff\xd8\xff", "image/jpeg"],
      [8, "WEBP", "image/webp"],
      [0, "GIF8", "image/gif"],
    ],
    otherwise: "image/png",
  },
};

/**
 * The media type of a file, by its bytes: many clients send none, and models name or judge the file by it.
 * @param said - by the client.
 */
export function typeOfFile(kind: "audio" | "image", file: Buffer, said: string | undefined): string {
  const { beginnings, otherwise } = kinds[kind];
  const start = file.toString("latin1", 0, 12);
  const found = beginnings.find(([offset, text]) => start.startsWith(text, offset));
  if (found !== undefined) return found[2];
  return said?.startsWith(`${kind}/`) && /^\w+\/[\w.+-]+$/.test(said) ? said : otherwise;
}
