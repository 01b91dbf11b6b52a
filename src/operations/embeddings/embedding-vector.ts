import { Buffer } from "node:buffer";

/** Base64 of little-endian 32-bit floats, as OpenAI writes them. */
export function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}

/** @returns `undefined` when it is not the base64 of 32-bit floats. */
export function fromBase64(text: string): number[] | undefined {
  const bytes = Buffer.from(text, "base64");
  let length = text.length;
  // No regular expression: for a text full of `=`, backtracking from each of them would take hours.
  while (text.charAt(length - 1) === "=") length--;
  if (bytes.length !== Math.floor((length * 3) / 4)) return undefined;
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  const vector: number[] = new Array(bytes.length / 4);
  for (let index = 0; index < vector.length; index++) {
    const value = bytes.readFloatLE(index * 4);
    // JSON has no other numbers.
    if (!Number.isFinite(value)) return undefined;
    vector[index] = value;
  }
  return vector;
}

export function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((number) => typeof number === "number");
}
