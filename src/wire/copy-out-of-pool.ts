import { Buffer } from "node:buffer";

/**
 * The bytes in memory of their own, for what is kept for long: a piece of the runtime's pool, which is where short buffers
 * come from, keeps all of the pool from being freed.
 */
export function unpooled(bytes: Buffer): Buffer {
  if (bytes.length >= Buffer.poolSize / 2) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
