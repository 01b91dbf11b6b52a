import { Buffer } from "node:buffer";
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import type { DigestEncoding, Runtime } from "./runtime.js";

/** For runtimes that have none of Node's modules but `node:buffer` and `node:async_hooks`. */
export const webRuntime: Runtime = {
  sha256: (data, encoding) => encoded(sha256(toBytes(data)), encoding),
  startSha256() {
    const hash = sha256.create();
    return {
      update: (data) => void hash.update(toBytes(data)),
      digest: (encoding) => encoded(hash.digest(), encoding),
    };
  },
  sha1: (text, encoding) => encoded(sha1(toBytes(text)), encoding),
  hmacSha256: (key, text, encoding) => encoded(hmac(sha256, key, toBytes(text)), encoding),
  hkdfSha256: (secret, purpose, length) => hkdf(sha256, toBytes(secret), undefined, toBytes(purpose), length),
  isSameBytes(one, other) {
    if (one.length !== other.length) return false;
    let difference = 0;
    for (let at = 0; at < one.length; at++) difference |= (one[at] as number) ^ (other[at] as number);
    return difference === 0;
  },
  randomBytes: (length) => globalThis.crypto.getRandomValues(Buffer.alloc(length)),
  randomUUID: () => globalThis.crypto.randomUUID(),
  nextTick: (callback, value) => queueMicrotask(() => callback(value)),
  isUtf8(bytes) {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return true;
    } catch {
      return false;
    }
  },
  isAscii: (bytes) => bytes.every((byte) => byte < 0x80),
};

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
}

function encoded(digest: Uint8Array, encoding: DigestEncoding): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.length).toString(encoding);
}
