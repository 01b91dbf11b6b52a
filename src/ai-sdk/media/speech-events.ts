import { Buffer } from "node:buffer";

/** Of sound in an event, in bytes: a multiple of three, so that the parts of base64 are those of the whole. */
const eventBytes = 48 * 1024;

/** The events of speech that has come as a whole. */
export function* speechEvents(sound: Uint8Array): Generator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(sound.buffer, sound.byteOffset, sound.length);
  for (let start = 0; start < bytes.length; start += eventBytes) {
    const audio = bytes.toString("base64", start, start + eventBytes);
    yield Buffer.from(`data: {"type":"speech.audio.delta","audio":"${audio}"}\n\n`);
  }
  if (bytes.length > 0) yield Buffer.from('data: {"type":"speech.audio.done"}\n\n');
}
