import type { Buffer } from "node:buffer";

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
