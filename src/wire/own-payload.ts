import { Buffer } from "node:buffer";

/** The beginning of what the gateway gives clients to keep and send back. Nothing of another server's begins so. */
export const ownPayloadPrefix = "ig1.";

/** A client can decode the payload: it is encoded and signed, not encrypted. */
export function joinOwnPayload(json: Uint8Array | string, sign: (encoded: string) => string): string {
  const encoded = ownPayloadPrefix + Buffer.from(json).toString("base64url");
  return `${encoded}.${sign(encoded)}`;
}

/** What was signed, and the signature; `undefined` where another server made the text, or it has no signature. */
export function splitOwnPayload(text: string): { encoded: string; signature: string } | undefined {
  const dot = text.indexOf(".", ownPayloadPrefix.length);
  if (!text.startsWith(ownPayloadPrefix) || dot < 0) return undefined;
  return { encoded: text.slice(0, dot), signature: text.slice(dot + 1) };
}

/** The bytes of a payload, whoever has written it: they need not be JSON. */
export function decodeOwnPayload(text: string): Buffer {
  const end = text.indexOf(".", ownPayloadPrefix.length);
  return Buffer.from(text.slice(ownPayloadPrefix.length, end < 0 ? undefined : end), "base64url");
}
