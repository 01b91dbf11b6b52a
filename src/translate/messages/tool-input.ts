import { isRecord } from "../../wire/is-record.js";

/**
 * The arguments of a function as the JSON of a tool's input, as they are. What is no object is kept as text, so that the
 * tool can say what is wrong with it.
 */
export function toolInput(text: string): string {
  if (text.trim() === "") return "{}";
  return isObject(text) ? text : JSON.stringify({ _raw: text });
}

function isObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
