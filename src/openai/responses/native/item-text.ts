import { isRecord } from "../../../wire/is-record.js";

/** Members of items that are not written by the model, or repeat what is. */
const marks: ReadonlySet<string> = new Set(
  "id call_id type object role status encrypted_content logprobs annotations".split(" "),
);

/** What the model has written in an item of a response's output, or in all of them. */
export function itemText(item: unknown): string {
  if (typeof item === "string") return item;
  if (Array.isArray(item)) return item.map(itemText).join("");
  if (!isRecord(item)) return "";
  let text = "";
  for (const name of Object.keys(item)) if (!marks.has(name)) text += itemText(item[name]);
  return text;
}
