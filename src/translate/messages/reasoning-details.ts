import { isRecord } from "../../wire/is-record.js";

/** Adds a piece of `reasoning_details` as a stream brings them: pieces of one kind and index are one. */
export function addReasoningDetail(details: Record<string, unknown>[], piece: unknown): void {
  if (!isRecord(piece)) return;
  const last = details.at(-1);
  if (last === undefined || last["type"] !== piece["type"] || last["index"] !== piece["index"]) {
    details.push({ ...piece });
    return;
  }
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const former = last[name];
    const isText = (name === "text" || name === "summary" || name === "data") && typeof former === "string";
    last[name] = isText && typeof value === "string" ? former + value : value;
  }
}

/** The thinking in a piece, for upstreams that show it nowhere else. */
export function detailText(piece: unknown): string {
  if (!isRecord(piece)) return "";
  const text = piece["text"] ?? piece["summary"];
  return typeof text === "string" ? text : "";
}
