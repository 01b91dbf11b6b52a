import { Buffer } from "node:buffer";
import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { largestCount } from "../../prices/usage-counts.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { mostTokens } from "../../tokens/tokenizer.js";
import { endOfValue, memberOf, shortInteger, skipSpace, valueAt } from "../../wire/json-members.js";
import type { Skips } from "../../wire/skip-table.js";
import type { SlicedWork } from "../../wire/slices.js";
import { contextLengthExceeded, wordTokens } from "./context-fit.js";
import type { JsonRequest } from "./json-request.js";
import type { Demand, ModelTraits } from "./operation.js";
import { estimatePromptTokens } from "./token-estimate.js";

/** The position of one input. */
export interface Input {
  start: number;
  end: number;
  /** An estimate; exact for inputs that are tokens. */
  tokens: number;
}

/** What a member takes as inputs, beside texts. */
export interface InputRules {
  /** The member's name. */
  readonly param: string;
  /** Whether an input may be an array of tokens. */
  readonly takesTokens: boolean;
  /** Whether an item may be an object, which may hold media. */
  readonly takesObjects: boolean;
  readonly takesEmptyTexts: boolean;
  /** Looks at an item that is an object. @throws GatewayError 400 */
  readonly watch?: (body: Uint8Array, start: number, skips: Skips, path: string) => void;
  /** The most inputs. Default: OpenAI's own limit. */
  readonly mostInputs?: number;
  /** The most tokens of an input that the member contains directly. */
  readonly mostTokens: number;
}

/** OpenAI's own limit on inputs. */
export const mostInputs = 2048;

/** The tokens that models add at the beginning and the end of an input. */
export const marks = 2;

/** Longer texts are estimated without resolving escapes, in bytes: no model reads that much of one. */
const longText = 256 * 1024;

const kinds = { 34: "a string", 91: "an array of tokens", 123: "an item of type object" } as const;

/** Reads inputs: one string, several strings, the tokens of one input, or of several. It makes no array of the tokens. */
export class InputReader implements SlicedWork {
  readonly inputs: Input[] = [];
  readonly #rules: InputRules;
  readonly #body: Uint8Array;
  readonly #skips: Skips;
  /** Whether the inputs are elements of an array. */
  readonly #isList: boolean;
  #position: number;
  /** How many tokens of the current input were read; -1 when it does not consist of tokens. */
  #tokens = -1;
  /** The start of the current input. */
  #start: number;

  /** @throws GatewayError 400 */
  constructor({ body, members, skips }: Pick<JsonRequest, "body" | "members" | "skips">, rules: InputRules) {
    const { param, takesTokens } = rules;
    const input = memberOf(members, param);
    if (input === undefined || body[input.start] === 0x6e) throw missingParameter(param);
    const kind = body[input.start];
    if (kind !== 0x22 && kind !== 0x5b) {
      throw invalidType(param, takesTokens ? "a string, or an array of strings or of tokens" : "a string or an array");
    }
    this.#rules = rules;
    this.#body = body;
    this.#skips = skips;
    this.#start = input.start;
    this.#position = input.start;
    this.#isList = kind === 0x5b && !this.#opensTokens(input.start);
    if (kind !== 0x5b) return;
    if (this.#isList) this.#position = skipSpace(body, input.start + 1);
    else this.#enterTokens();
    if (body[this.#position] === 0x5d) throw emptyArray(param);
  }

  get position(): number {
    return this.#position;
  }

  /** @throws GatewayError 400 */
  run(stop: number): boolean {
    for (;;) {
      if (this.#position >= stop) return false;
      if (this.#tokens < 0) this.#readInput();
      if (this.#tokens >= 0 && !this.#readTokens(stop)) return false;
      if (!this.#isList || this.#body[this.#position] !== 0x2c) return true;
      this.#position = skipSpace(this.#body, this.#position + 1);
    }
  }

  /** Reads an input that is a text or an object, or the start of one that consists of tokens. */
  #readInput(): void {
    const body = this.#body;
    const start = this.#position;
    const path = this.#path();
    this.#start = start;
    const { param, takesEmptyTexts } = this.#rules;
    const { mostInputs: most = mostInputs } = this.#rules;
    if (this.inputs.length === most) throw tooMany(param, most);
    const kind = body[start];
    if (kind !== 0x22 && !this.#takes(kind)) throw invalidType(path, this.#kinds);
    const first = body[this.inputs[0]?.start ?? start] as keyof typeof kinds;
    if (kind !== first) throw invalidType(path, `${kinds[first]}, as the first item is`);
    if (kind === 0x5b) {
      this.#enterTokens();
      if (body[this.#position] === 0x5d) throw emptyArray(path);
      return;
    }
    if (kind === 0x7b) this.#rules.watch?.(body, start, this.#skips, path);
    const end = endOfValue(body, start, this.#skips);
    if (kind === 0x22 && end - start === 2 && !takesEmptyTexts)
      throw invalidValue(path, `'${path}' must not be an empty string.`);
    const tokens =
      kind === 0x22 ? stringTokens(body, start, end) : estimatePromptTokens(body.subarray(start, end), true);
    this.#add(end, tokens + marks);
  }

  #enterTokens(): void {
    this.#tokens = 0;
    this.#position = skipSpace(this.#body, this.#position + 1);
  }

  /** @returns whether all tokens were read. */
  #readTokens(stop: number): boolean {
    const body = this.#body;
    let position = this.#position;
    let tokens = this.#tokens;
    for (;;) {
      const end = tokenEnd(body, position);
      if (end < 0) throw invalidType(`${this.#path()}[${tokens}]`, "a token: an integer of at least 0");
      tokens++;
      if (!this.#isList && tokens > this.#rules.mostTokens) {
        throw tooMany(this.#rules.param, this.#rules.mostTokens, longerInput);
      }
      position = skipSpace(body, end);
      if (body[position] !== 0x2c) break;
      position = skipSpace(body, position + 1);
      if (position < stop) continue;
      this.#position = position;
      this.#tokens = tokens;
      return false;
    }
    this.#tokens = -1;
    this.#add(position + 1, tokens);
    return true;
  }

  #add(end: number, tokens: number): void {
    this.inputs.push({ start: this.#start, end, tokens });
    this.#position = skipSpace(this.#body, end);
  }

  #takes(kind: number | undefined): boolean {
    const { takesTokens, takesObjects } = this.#rules;
    return (kind === 0x5b && takesTokens) || (kind === 0x7b && takesObjects);
  }

  get #kinds(): string {
    return this.#rules.takesTokens ? "a string or an array of tokens" : "a string or an object";
  }

  #path(): string {
    const { param } = this.#rules;
    return this.#isList ? `${param}[${this.inputs.length}]` : param;
  }

  /** Whether the array contains the tokens of one input, judged by its first element. */
  #opensTokens(start: number): boolean {
    if (!this.#rules.takesTokens) return false;
    const first = this.#body[skipSpace(this.#body, start + 1)] as number;
    return first === 0x2d || (first >= 0x30 && first <= 0x39);
  }
}

/** The offset after an integer of at least 0, or -1. */
function tokenEnd(body: Uint8Array, start: number): number {
  const end = endOfValue(body, start);
  if (shortInteger(body, start, end) !== undefined) return end;
  const value = valueAt(body, { start, end });
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? end : -1;
}

/** An estimate of the tokens of a string. */
export function stringTokens(body: Uint8Array, start: number, end: number): number {
  if (end - start > longText) return textTokens(body.subarray(start + 1, end - 1));
  return textTokens(Buffer.from(String(valueAt(body, { start, end }))));
}

const longerInput = " Put the tokens of a longer input into an array of their own: [[…]].";

/** @param hint - what to do instead. */
export function tooMany(param: string, most: number, hint = ""): GatewayError {
  return new GatewayError(`'${param}' must hold at most ${most} items, and holds more.${hint}`, {
    status: 400,
    code: "array_above_max_length",
    param,
  });
}

function emptyArray(param: string): GatewayError {
  return new GatewayError(`'${param}' must not be an empty array.`, { status: 400, code: "empty_array", param });
}

type Counting = Pick<ModelTraits, "contextLength" | "tokenizer">;

/** The most tokens of an input. Of media that nothing limits, as many as the model's context. */
export function countInput(body: Uint8Array, input: Input, { contextLength, tokenizer }: Counting): number {
  if (tokenizer !== undefined && isText(body, input)) {
    // It stops counting beyond the context.
    const counted = mostTokens(textAt(body, input), tokenizer, contextLength - marks);
    if (counted !== undefined) return counted + marks;
  }
  return Number.isFinite(input.tokens) ? input.tokens : contextLength;
}

/**
 * What a request asks of a model whose response has no tokens: one for embeddings, or a moderation.
 * @throws GatewayError 400
 */
export function inputsDemand(request: JsonRequest & { readonly inputs: readonly Input[] }, model: ModelTraits): Demand {
  const { body, inputs } = request;
  requireInputsFit(request, inputs, "input", model);
  const tokens = inputs.map((input) => countInput(body, input, model));
  return { ...promptDemand(tokens, model), outputTokens: 0, addedCap: undefined };
}

/** What inputs of so many tokens ask of a model. It reads at most its context of each. */
export function promptDemand(
  tokens: readonly number[],
  { contextLength }: Counting,
): Pick<Demand, "promptTokens" | "heldPromptTokens" | "promptBound"> {
  const promptTokens = tokens.reduce((sum, each) => sum + Math.min(each, contextLength), 0);
  const heldPromptTokens = Math.min(
    tokens.reduce((sum, each) => sum + each, 0),
    largestCount,
  );
  return { promptTokens: Math.min(promptTokens, heldPromptTokens), heldPromptTokens, promptBound: undefined };
}

/**
 * Refuses an input that certainly has more tokens than the model's context. It counts given tokens, or uses the
 * tokenizer, or counts words: each word is at least one token.
 * @param param - the member that holds the inputs.
 * @throws GatewayError 400
 */
export function requireInputsFit(
  { body, members }: Pick<JsonRequest, "body" | "members">,
  inputs: readonly Input[],
  param: string,
  { enforcesContext, contextLength, tokenizer }: ModelTraits,
): void {
  // A token has at least one byte.
  if (!enforcesContext || body.length <= contextLength) return;
  const place = inputs.findIndex((input) => isTooLong(body, input, { contextLength, tokenizer }));
  if (place < 0) return;
  const isDirect = inputs[place]?.start === memberOf(members, param)?.start;
  throw contextLengthExceeded(contextLength, isDirect ? param : `${param}[${place}]`);
}

function isTooLong(body: Uint8Array, input: Input, { contextLength, tokenizer }: Counting): boolean {
  if (!isText(body, input)) return body[input.start] === 0x5b && input.tokens > contextLength;
  const { start, end } = input;
  if (tokenizer !== undefined) return tokenizer.count(textAt(body, input), contextLength) > contextLength;
  // A word has at least two bytes, including the white space after it.
  if ((end - start) / 2 <= contextLength) return false;
  return wordTokens(body, { start: start + 1, end: end - 1 }, contextLength, Number.POSITIVE_INFINITY) > contextLength;
}

function isText(body: Uint8Array, { start }: Pick<Input, "start">): boolean {
  return body[start] === 0x22;
}

function textAt(body: Uint8Array, input: Input): string {
  return String(valueAt(body, input));
}
