import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";

/** Members of blocks and deltas that hold what the model has written. */
const textMembers = ["text", "thinking", "partial_json", "name", "data"];

/** Bytes of model output in a block, or in a delta of one: text, thinking, a tool's name and input. */
export function blockBytes(block: unknown): number {
  if (!isRecord(block)) return 0;
  let bytes = 0;
  for (const name of textMembers) {
    const text = block[name];
    if (typeof text === "string") bytes += Buffer.byteLength(text);
  }
  const { input } = block;
  return isRecord(input) && Object.keys(input).length > 0 ? bytes + Buffer.byteLength(JSON.stringify(input)) : bytes;
}
