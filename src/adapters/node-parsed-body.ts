import { Buffer } from "node:buffer";

/** The bytes of a body that the host has read: bytes and text as they are, anything else as JSON again. */
export function parsedBodyBytes(body: unknown): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : stringify(body));
}

/** Deeper than {@link GatewayOptions.maxBodyDepth} can allow. */
const tooDeep = "[".repeat(5001);

/** `JSON.parse` reads deeper than `JSON.stringify` can write; the gateway is to refuse such a body as any deep one. */
function stringify(body: unknown): string {
  try {
    return JSON.stringify(body) ?? "";
  } catch (error) {
    if (error instanceof RangeError) return tooDeep;
    throw error;
  }
}
