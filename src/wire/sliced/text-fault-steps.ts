import { Buffer } from "node:buffer";
import { JsonCheck, type JsonFault } from "../json-syntax.js";
import { type Steps, slicesOf } from "../slices.js";

/** Texts of JSON that stand in JSON as strings, such as the arguments of a tool, are nested no deeper than that. */
export const mostTextDepth = 256;

/**
 * Why a text is not one JSON object that every reader understands alike, or is nested too deep; `undefined`: it is one. No
 * value is built.
 */
export function* textFaultSteps(text: string): Steps<JsonFault | undefined> {
  const check = new JsonCheck(Buffer.from(text), mostTextDepth);
  yield* slicesOf(check);
  return check.fault;
}
