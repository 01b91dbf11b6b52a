/** The content types of formats that clients ask for. */
const types: ReadonlyMap<string, string> = new Map([
  ["mp3", "audio/mpeg"],
  ["opus", "audio/opus"],
  ["aac", "audio/aac"],
  ["flac", "audio/flac"],
  ["wav", "audio/wav"],
  ["pcm", "audio/pcm"],
]);

/** @param format - as the client asks for it; `undefined`: the usual one. */
export function audioTypeOf(format = "mp3"): string {
  return types.get(format) ?? "application/octet-stream";
}

/** Whether an upstream says that its response is sound. */
export function isAudioType(contentType: string): boolean {
  return /^(audio\/[\w.+-]+|application\/octet-stream)\s*(;|$)/i.test(contentType);
}

/** Whether it is PCM, and of no rate of its own. */
export function isPlainPcm(contentType: string): boolean {
  return /^audio\/pcm\s*$/i.test(contentType);
}
