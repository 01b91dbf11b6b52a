/** A hash's size in words of 32 bits. */
export const hashLength = 4;

/** Units of text, of 16 bits each, that are mixed in at once. */
const blockLength = 8;

export type Hash = Readonly<Int32Array>;

// The last hash, for whoever asks: a function of the id alone. The tables that one id is looked up in do not know each other.
const hash = new Int32Array(hashLength);
let hashed: string | undefined;

/**
 * 128 bits that stand for an id, each word as good as the others: MurmurHash3 (x86, 128 bits) over the UTF-16 units.
 * Zeros fill the last block.
 *
 * @returns the same array each time: it is valid until the next call. A second call with the same id costs nothing,
 * since callers look one id up in several tables in turn.
 */
export function idHash(id: string): Hash {
  if (id === hashed) return hash;
  hashed = id;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const text =
    id.length % blockLength === 0 ? id : id.padEnd(id.length + blockLength - (id.length % blockLength), "\0");
  for (let at = 0; at < text.length; at += blockLength) {
    a ^= Math.imul(rotated(Math.imul(wordAt(text, at), 0x239b961b), 15), 0xab0e9789);
    a = Math.imul(rotated(a, 19) + b, 5) + 0x561ccd1b;
    b ^= Math.imul(rotated(Math.imul(wordAt(text, at + 2), 0xab0e9789), 16), 0x38b34ae5);
    b = Math.imul(rotated(b, 17) + c, 5) + 0x0bcaa747;
    c ^= Math.imul(rotated(Math.imul(wordAt(text, at + 4), 0x38b34ae5), 17), 0xa1e38b93);
    c = Math.imul(rotated(c, 15) + d, 5) + 0x96cd1c35;
    d ^= Math.imul(rotated(Math.imul(wordAt(text, at + 6), 0xa1e38b93), 18), 0x239b961b);
    d = Math.imul(rotated(d, 13) + a, 5) + 0x32ac3b17;
  }
  const bytes = id.length * 2;
  a ^= bytes;
  b ^= bytes;
  c ^= bytes;
  d ^= bytes;
  a += b + c + d;
  b = avalanched(b + a);
  c = avalanched(c + a);
  d = avalanched(d + a);
  a = avalanched(a) + b + c + d;
  hash[0] = a;
  hash[1] = b + a;
  hash[2] = c + a;
  hash[3] = d + a;
  return hash;
}

/** Two units as a word. */
function wordAt(text: string, at: number): number {
  return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Lets each bit change each other. */
function avalanched(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/**
 * The name that an account belongs to: the one with the highest score for it. A name that is added takes its accounts
 * from all others alike, and moves no account between those. The order of the names has no effect.
 *
 * Operators keep data by what this returns, so it must never return another name for the same arguments.
 *
 * @param names - at least one.
 */
export function rendezvous(names: readonly string[], account: string): string {
  let [best = ""] = names;
  if (names.length === 1) return best;
  let highest = Number.NEGATIVE_INFINITY;
  for (const name of names) {
    const score = scoreOf(name, account);
    if (score < highest || (score === highest && name > best)) continue;
    best = name;
    highest = score;
  }
  return best;
}

/** NUL is in no account's id, so no two pairs of name and account make the same text. */
function scoreOf(name: string, account: string): number {
  return idHash(`${name}\0${account}`)[0] ?? 0;
}
