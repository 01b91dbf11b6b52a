import { isRecord } from "../../wire/is-record.js";
import { atOnce } from "../../wire/slices.js";
import { textFaultSteps } from "../../wire/value-steps.js";

/** The member in which a model sends what a tool takes as a text. */
const wrappedInput = "input";

const wrapperNote = `This tool takes one raw text. Send all of it, unchanged, as the string '${wrappedInput}'.`;

/** A grammar that the text of a tool must match. */
export interface Grammar {
  readonly syntax: unknown;
  readonly definition: unknown;
}

/** The description and the parameters of a function that takes the text of a custom tool. */
export function textFunction(description: unknown, grammar: Grammar | undefined): Record<string, unknown> {
  const texts = [typeof description === "string" ? description : "", wrapperNote];
  if (typeof grammar?.definition === "string") {
    const syntax = typeof grammar.syntax === "string" ? grammar.syntax : "";
    texts.push(`The text must match this grammar (${syntax}):\n${grammar.definition}`);
  }
  return {
    description: texts.filter((text) => text !== "").join("\n\n"),
    parameters: {
      type: "object",
      properties: { [wrappedInput]: { type: "string", description: "The whole raw text" } },
      required: [wrappedInput],
      additionalProperties: false,
    },
  };
}

/** What a client has sent to a custom tool, as the arguments of such a function. */
export function wrappedText(input: unknown): string {
  return JSON.stringify({ [wrappedInput]: typeof input === "string" ? input : JSON.stringify(input ?? "") });
}

/** The text for a custom tool: all that was sent where it is not wrapped as it should be. */
export function unwrappedText(args: string): string {
  const input = textObject(args)?.[wrappedInput];
  return typeof input === "string" ? input : args;
}

/**
 * The object that a text of JSON is, such as the arguments that a model gives a tool. `undefined` for any other text, and
 * for what is nested too deep.
 */
export function textObject(text: string): Record<string, unknown> | undefined {
  if (atOnce(textFaultSteps(text)) !== undefined) return undefined;
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : undefined;
}
