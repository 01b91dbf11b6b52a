import { isRecord } from "../wire/is-record.js";
import { textFaultSteps } from "../wire/sliced/text-fault-steps.js";
import { atOnce } from "../wire/slices.js";

/**
 * The object that a text of JSON is, such as the arguments that a model gives a tool. `undefined` for any other text, and
 * for what is nested too deep.
 */
export function textObject(text: string): Record<string, unknown> | undefined {
  if (atOnce(textFaultSteps(text)) !== undefined) return undefined;
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : undefined;
}
