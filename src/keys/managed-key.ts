import { randomBytes } from "node:crypto";

/** The beginning of the gateway's own keys. A host's own kinds of keys have no checksum, and need none. */
export const managedPrefix = "sk-ig-";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 40 letters and digits are 238 bits. */
const randomLength = 40;
/** Enough letters and digits for 32 bits. */
const checksumLength = 6;
const shape = new RegExp(`^${managedPrefix}[${alphabet}]{${randomLength + checksumLength}}$`);

/** A new key: the prefix, 238 random bits, and a checksum, in letters and digits. */
export function makeManagedKey(): string {
  const text = managedPrefix + randomText(randomLength);
  return text + checksum(text);
}

/**
 * Whether the text looks like one of the gateway's own keys, but is a wrong copy. Then no store has it. The checksum
 * finds one wrong character, two swapped ones and a missing end always. It misses one other error in four thousand
 * million.
 */
export function isMistypedKey(key: string): boolean {
  if (!key.startsWith(managedPrefix)) return false;
  return !shape.test(key) || checksum(key.slice(0, -checksumLength)) !== key.slice(-checksumLength);
}

/** How people recognise a key: its beginning and end, where enough stays unsaid to keep it safe. */
export function keyHint(key: string): string {
  return key.length < 32 ? "…" : `${key.slice(0, managedPrefix.length + 4)}…${key.slice(-4)}`;
}

/** Letters and digits, each as likely as any other. */
function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      // Bytes beyond the last whole round through the alphabet would favour its beginning.
      if (byte < 256 - (256 % alphabet.length)) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

/** CRC-32 (ISO 3309), which no error of at most 32 bits in a row escapes. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc = (crc >>> 8) ^ (crcTable[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0);
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (let place = 0; place < checksumLength; place++) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});
