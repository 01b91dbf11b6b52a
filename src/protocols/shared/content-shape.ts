import { invalidType } from "../../errors/gateway-error.js";

/** What a content may be beside a text and a list of parts. */
export interface ContentShape {
  /** `null`: of a message that holds calls alone. */
  readonly mayBeNull: boolean;
  /** Texts that stand in the list as they are, which some servers take for parts. */
  readonly mayHoldTexts: boolean;
  /** For error messages. */
  readonly expected: string;
}

/** Of a message of a chat completion. */
export const chatContent: ContentShape = { mayBeNull: true, mayHoldTexts: true, expected: "a string or an array" };

/** Of a message of Anthropic's. */
export const messagesContent: ContentShape = {
  mayBeNull: false,
  mayHoldTexts: false,
  expected: "a valid string or list",
};

/** Of an item of the Responses API. */
export const itemContent: ContentShape = { mayBeNull: true, mayHoldTexts: false, expected: "a string or an array" };

const [quote, openBracket, openBrace, letterN] = [0x22, 0x5b, 0x7b, 0x6e];

/**
 * Servers differ in what they make of a content of another shape: some read it as a text, some leave it out.
 * @param first - the first byte of the content.
 * @throws GatewayError 400
 */
export function requireContent(first: number | undefined, shape: ContentShape, path: string): void {
  if (first === quote || first === openBracket || (first === letterN && shape.mayBeNull)) return;
  throw invalidType(path, shape.expected);
}

/** The same for one element of a list of parts. @throws GatewayError 400 */
export function requirePart(first: number | undefined, shape: ContentShape, path: string): void {
  if (first === openBrace || (first === quote && shape.mayHoldTexts)) return;
  throw invalidType(path, "an object");
}

/** The same for the content of a part, such as a tool's result: some are objects. @throws GatewayError 400 */
export function requireInnerContent(first: number | undefined, path: string): void {
  if (first === quote || first === openBracket || first === openBrace || first === letterN) return;
  throw invalidType(path, "a string or an array");
}
