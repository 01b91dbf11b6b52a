import type { Buffer } from "node:buffer";

/** How a digest is written. */
export type DigestEncoding = "hex" | "base64url";

/** A digest of what comes piece by piece. */
export interface RunningDigest {
  /** @param data - a text counts as its UTF-8. */
  update(data: string | Uint8Array): void;
  /** To be called once, last. */
  digest(encoding: DigestEncoding): string;
}

/**
 * What runtimes have under different names, or have not. `#runtime` in package.json chooses one of two: Node's own, or what
 * JavaScript and the standards of the web suffice for. The digests are finished when they return: a promise for each would
 * cost a call more than the digest.
 */
export interface Runtime {
  /** SHA-256 of bytes, or of a text's UTF-8. */
  sha256(data: string | Uint8Array, encoding: DigestEncoding): string;
  /** SHA-256 of what comes piece by piece. */
  startSha256(): RunningDigest;
  /** SHA-1 of a text's UTF-8. It names things, and keeps nothing safe. */
  sha1(text: string, encoding: DigestEncoding): string;
  /** HMAC-SHA256 of a text's UTF-8. */
  hmacSha256(key: Uint8Array, text: string, encoding: DigestEncoding): string;
  /** HKDF-SHA256 (RFC 5869) without salt. */
  hkdfSha256(secret: string | Uint8Array, purpose: string, length: number): Uint8Array;
  /** Whether the bytes are the same, in a time that only their lengths decide. */
  isSameBytes(one: Uint8Array, other: Uint8Array): boolean;
  /** Random bytes that nobody can foretell. @param length - at most 65,536. */
  randomBytes(length: number): Buffer;
  randomUUID(): string;
  /** Calls back when what runs now has returned, and before anything else that comes in by the event loop. */
  nextTick<Value>(callback: (value: Value) => void, value: Value): void;
  isUtf8(bytes: Uint8Array): boolean;
  isAscii(bytes: Uint8Array): boolean;
}

/**
 * Whether this code runs in an isolate: a runtime that ties each promise, timer and socket to the request that made it, and
 * ends them with it. There no request may wait for what another one has begun, or it waits for ever. Cloudflare's Workers
 * say so by this name.
 */
export const isIsolate: boolean =
  (globalThis as { navigator?: { userAgent?: unknown } }).navigator?.userAgent === "Cloudflare-Workers";

// Read when the module is loaded: a host's tests may replace the timers later by fake ones.
const { setImmediate, setTimeout } = globalThis;

/** Calls back in the next turn of the event loop, after other work. Not every runtime has `setImmediate`. */
export function afterTurn(callback: () => void): void {
  if (typeof setImmediate === "function") setImmediate(callback);
  else setTimeout(callback, 0);
}
