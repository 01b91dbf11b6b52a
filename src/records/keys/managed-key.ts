import { runtime } from "../../runtime/this-runtime.js";

/**
 * The beginning of the gateway's own keys, unless its options name another. A host's own kinds of keys have no checksum,
 * and need none.
 */
export const managedPrefix = "sk-ig-";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 40 letters and digits are 238 bits. */
const randomLength = 40;
/** Enough letters and digits for 32 bits. */
const checksumLength = 6;
const tailLength = randomLength + checksumLength;
const tail = new RegExp(`^[${alphabet}]{${tailLength}}$`);

/** A new key: the prefix, 238 random bits, and a checksum of both, in letters and digits. */
export function makeManagedKey(prefix = managedPrefix): string {
  const text = prefix + randomText(randomLength);
  return text + checksum(text);
}

/**
 * Whether the text looks like one of the gateway's own keys, but is a wrong copy. Then no store has it. The checksum
 * finds one wrong character, two swapped ones and a missing end always. It misses one other error in four thousand
 * million.
 *
 * What begins with {@link managedPrefix} is such a key. Other prefixes may also begin keys of the host's own, so there
 * only a text of the whole length is one.
 *
 * @param prefix - of the keys that the gateway makes now. A key of an earlier one has a checksum that is right.
 */
export function isMistypedKey(key: string, prefix = managedPrefix): boolean {
  const isManaged = key.startsWith(managedPrefix);
  if (!isManaged && !(key.length === prefix.length + tailLength && key.startsWith(prefix))) return false;
  if (!tail.test(key.slice(-tailLength))) return isManaged;
  return checksum(key.slice(0, -checksumLength)) !== key.slice(-checksumLength);
}

/** Behind its prefix, a key with fewer characters has no hint. */
const leastSecret = 26;

/** How people recognise a key: its beginning and end, where enough stays unsaid to keep it safe. */
export function keyHint(key: string, prefix = managedPrefix): string {
  return key.length < prefix.length + leastSecret ? "…" : `${key.slice(0, prefix.length + 4)}…${key.slice(-4)}`;
}

/** Letters and digits, each as likely as any other. */
function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of runtime.randomBytes(length - text.length)) {
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

/**
 * The form in which API keys are stored and looked up: SHA-256 of the key's UTF-8 text as 64 lower-case hexadecimal
 * digits. API keys are long random texts, so a fast hash without salt keeps them safe.
 */
export function hashKey(key: string): string {
  return runtime.sha256(key, "hex");
}

/** What fits into the 12 bits of a counter. */
const mostOfMillisecond = 2 ** 12;

/**
 * Ids of new keys, and of what is ordered as they are: UUIDs of version 7 with a counter (RFC 9562, sections 5.7 and 6.2). As texts, those of one process are
 * in the order in which they were made, so that keys of one millisecond are listed in it.
 */
export class KeyIds {
  readonly #prefix: string;
  #millisecond = 0;
  #made = 0;

  constructor(prefix = "key_") {
    this.#prefix = prefix;
  }

  /** @param now - epoch milliseconds. */
  next(now: number): string {
    const millisecond = Math.max(Math.floor(now), this.#millisecond);
    if (millisecond > this.#millisecond) this.#made = 0;
    // More than the counter has room for borrow from the next millisecond.
    this.#millisecond = this.#made < mostOfMillisecond ? millisecond : millisecond + 1;
    this.#made %= mostOfMillisecond;
    const time = this.#millisecond.toString(16).padStart(12, "0");
    const counter = (this.#made++).toString(16).padStart(3, "0");
    const random = runtime.randomBytes(8);
    random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
    const rest = random.toString("hex");
    return `${this.#prefix}${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${rest.slice(0, 4)}-${rest.slice(4)}`;
  }
}
