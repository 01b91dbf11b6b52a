import { isRecord } from "../../wire/is-record.js";

/** Members of blocks and deltas that hold what the model has written. */
const textMembers = ["text", "thinking", "partial_json", "name", "data"];

/** The model's output in a block, or in a delta of one: text, thinking, a tool's name and input. */
export function blockText(block: unknown): string {
  if (!isRecord(block)) return "";
  let output = "";
  for (const name of textMembers) {
    const text = block[name];
    if (typeof text === "string") output += text;
  }
  const { input, content, type } = block;
  // A compaction's summary. The content of other blocks is not the model's.
  if (typeof content === "string" && String(type).startsWith("compaction")) output += content;
  return isRecord(input) && Object.keys(input).length > 0 ? output + JSON.stringify(input) : output;
}
