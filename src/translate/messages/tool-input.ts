import { RawJson } from "../../wire/sliced/json-steps.js";
import { textFaultSteps } from "../../wire/sliced/text-fault-steps.js";
import type { Steps } from "../../wire/slices.js";

/**
 * The arguments of a function as the JSON of a tool's input, as they are. What is no object, and what is nested too deep, is
 * kept as text, so that the tool can say what is wrong with it.
 */
export function* toolInputSteps(text: string): Steps<RawJson> {
  if (isBlank(text)) return new RawJson("{}");
  const fault = yield* textFaultSteps(text);
  return fault === undefined ? new RawJson(text) : new RawJson('{"_raw":', { text }, "}");
}

/** Not by a copy of it. */
function isBlank(text: string): boolean {
  return !/\S/.test(text);
}
