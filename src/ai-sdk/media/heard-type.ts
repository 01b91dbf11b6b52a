import type { Buffer } from "node:buffer";

/** What files begin with: at an offset, as Latin-1. */
const beginnings: readonly (readonly [offset: number, text: string, type: string])[] = [
  [8, "WAVE", "audio/wav"],
  [0, "ID3", "audio/mpeg"],
  [0, "fLaC", "audio/flac"],
  [0, "OggS", "audio/ogg"],
  [0, "\x1aE\xdf\xa3", "audio/webm"],
  [4, "ftyp", "audio/mp4"],
];

/**
 * The media type of a file of audio, by its bytes: many clients send none, and models name the file by it.
 * @param said - by the client.
 */
export function heardType(file: Buffer, said: string | undefined): string {
  const start = file.toString("latin1", 0, 12);
  const found = beginnings.find(([offset, text]) => start.startsWith(text, offset));
  if (found !== undefined) return found[2];
  const isAudio = /^audio\/[\w.+-]+$/.test(said ?? "");
  return isAudio && said !== undefined ? said : "audio/mpeg";
}
