import { endOfValue, type JsonMember, skipSpace } from "../../wire/json-members.js";
import type { JsonRequest } from "./json-request.js";

/** Whether a value is an object, or a list that holds an object or a list. */
export function isStructured(
  { body, leaps }: Pick<JsonRequest, "body" | "leaps">,
  { start }: Pick<JsonMember, "start">,
): boolean {
  if (body[start] === 0x7b) return true;
  if (body[start] !== 0x5b) return false;
  let position = skipSpace(body, start + 1);
  for (;;) {
    if (body[position] === 0x7b || body[position] === 0x5b) return true;
    if (body[position] === 0x5d) return false;
    position = skipSpace(body, endOfValue(body, position, leaps));
    if (body[position] !== 0x2c) return false;
    position = skipSpace(body, position + 1);
  }
}
