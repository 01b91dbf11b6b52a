import { Buffer } from "node:buffer";
import type { KeptItem, KeptResponse } from "./response-store.js";

/** What an item or a response takes besides its text. So the bytes also bound how many there are. */
const overheadBytes = 256;

/** What a response takes in a store, about: its texts in UTF-8, and something for each row. */
export function responseBytes({ response, input, output }: KeptResponse): number {
  return overheadBytes + Buffer.byteLength(response) + itemBytes(input) + itemBytes(output);
}

/** In UTF-8. */
export function textBytes(text: string): number {
  return Buffer.byteLength(text);
}

function itemBytes(items: readonly KeptItem[]): number {
  return items.reduce((sum, { id, json }) => sum + overheadBytes + id.length + Buffer.byteLength(json), 0);
}
