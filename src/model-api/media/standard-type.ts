/** Names that clients use, and that strict servers refuse. */
const standard: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["audio/x-wav", "audio/wav"],
  ["audio/mp3", "audio/mpeg"],
]);

/** The registered name of a media type, in small letters. */
export function standardType(mediaType: string): string {
  const name = mediaType.trim().toLowerCase();
  return standard.get(name) ?? name;
}
