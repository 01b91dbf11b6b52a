import type { KeptResponse } from "../../../src/responses/response-store.js";

const overheadBytes = 256;

/** A response that counts for so many bytes in a store. */
export function responseOfBytes(account: string, id: string, bytes = overheadBytes + 2): KeptResponse {
  const text = JSON.stringify("x".repeat(bytes - overheadBytes - 2));
  return { id, account, createdAt: 1, previousResponseId: undefined, response: text, input: [], output: [] };
}
