import { Buffer } from "node:buffer";
import type { Dialect } from "./dialect.js";
import { GatewayError, invalidType, invalidValue, missingParameter } from "./errors.js";
import {
  editMembers,
  elementsOf,
  endOfValue,
  type JsonMember,
  type MemberEdits,
  memberOf,
  splice,
  valueAt,
} from "./json-members.js";
import { type JsonRequest, parseJsonRequest, readCount, readMember, readModel } from "./json-request.js";
import { wordTokens } from "./least-tokens.js";
import { addNameEdits } from "./request-edits.js";
import { textTokens } from "./text-tokens.js";
import { estimatePromptTokens } from "./token-estimate.js";
import type { Tokenizer } from "./tokenizer.js";
import { isRecord } from "./usage.js";

/** What the gateway itself reads of an embeddings request (OpenAI reference, "Create embeddings"). */
export interface EmbeddingRequest extends JsonRequest {
  readonly model: string;
  /** Vectors do not come in a stream. */
  readonly stream: false;
  readonly includeUsage: false;
  /** An estimate of each input's tokens; exact for inputs that are tokens. One vector is due for each. */
  readonly inputTokens: readonly number[];
  /** Encodings of others than OpenAI are the upstream's affair. */
  readonly encoding: "float" | "base64" | "other";
}

/** OpenAI's own limit, also for the tokens of one input that stand in `input` itself. */
const mostItems = 2048;

/** What models put around an input: its beginning and its end. */
const marks = 2;

/**
 * Checks what the gateway itself relies on; every other member goes to the upstream as it is, known or not.
 * @throws GatewayError 400
 */
export function parseEmbeddingRequest(bytes: Uint8Array, maxDepth: number): EmbeddingRequest {
  const request = parseJsonRequest(bytes, maxDepth);
  const model = readModel(request);
  const inputTokens = readInputs(readMember(request, "input"));
  readCount("dimensions", readMember(request, "dimensions"));
  const encoding = readMember(request, "encoding_format") ?? "float";
  if (typeof encoding !== "string") throw invalidType("encoding_format", "'float' or 'base64'");
  return {
    ...request,
    model,
    stream: false,
    includeUsage: false,
    inputTokens,
    encoding: encoding === "float" || encoding === "base64" ? encoding : "other",
  };
}

/** An estimate of all inputs; a model reads no more than `contextLength` of each. */
export function embeddingTokens(request: EmbeddingRequest, contextLength: number, tokenizer?: Tokenizer): number {
  const { inputTokens } = request;
  const counts = tokenizer === undefined ? inputTokens : countInputs(request, contextLength, tokenizer);
  return counts.reduce((sum, tokens) => sum + Math.min(tokens, contextLength), 0);
}

/**
 * The path of the first input that certainly has more tokens than `contextLength`: given as tokens, by the tokenizer, or
 * by its words, each of which is a token at the least.
 */
export function findTooLongInput(
  request: EmbeddingRequest,
  contextLength: number,
  tokenizer: Tokenizer | undefined,
): string | undefined {
  const { body, inputTokens } = request;
  // A token has a byte at the least.
  if (body.length <= contextLength) return undefined;
  const inputs = inputsOf(request);
  const place = inputs.findIndex((input, index) => {
    if (!isText(body, input)) return body[input.start] === 0x5b && (inputTokens[index] ?? 0) > contextLength;
    const { start, end } = input;
    if (tokenizer !== undefined) return tokenizer.count(textAt(body, input), contextLength) > contextLength;
    // A word has two bytes, the white space behind it included.
    if ((end - start) / 2 <= contextLength) return false;
    return (
      wordTokens(body, { start: start + 1, end: end - 1 }, contextLength, Number.POSITIVE_INFINITY) > contextLength
    );
  });
  if (place < 0) return undefined;
  return inputs[place] === memberOf(request.members, "input") ? "input" : `input[${place}]`;
}

/**
 * The request for the upstream: the model under its name there, and other members as the server's dialect knows them.
 * Everything else stays byte for byte.
 */
export function toUpstreamEmbeddingBody(
  request: EmbeddingRequest,
  { model, dialect }: { model: string; dialect?: Dialect | undefined },
): Uint8Array {
  const { body, members } = request;
  const name = JSON.stringify(model);
  if (dialect === undefined) {
    const { start, end } = memberOf(members, "model") as JsonMember;
    return splice(body, start, end, name);
  }
  const edits: MemberEdits = new Map([["model", name]]);
  addNameEdits(request, dialect, edits);
  return editMembers(body, members, edits);
}

type Value = Pick<JsonMember, "start" | "end">;

/** Where each input is, in the order of `inputTokens`. */
function inputsOf({ body, members, leaps }: EmbeddingRequest): Value[] {
  const input = memberOf(members, "input");
  if (input === undefined) return [];
  const elements = body[input.start] === 0x5b ? elementsOf(body, input.start, leaps) : [];
  const [first] = elements;
  if (first === undefined || isNumber(body[first])) return [input];
  return elements.map((start) => ({ start, end: endOfValue(body, start, leaps) }));
}

function countInputs(request: EmbeddingRequest, most: number, tokenizer: Tokenizer): number[] {
  const { body, inputTokens } = request;
  return inputsOf(request).map((input, index) =>
    isText(body, input) ? tokenizer.count(textAt(body, input), most) + marks : (inputTokens[index] ?? 0),
  );
}

function isText(body: Uint8Array, { start }: Value): boolean {
  return body[start] === 0x22;
}

function textAt(body: Uint8Array, input: Value): string {
  return String(valueAt(body, input));
}

/** Not the first byte of a string, an array or an object. */
function isNumber(byte: number | undefined): boolean {
  return byte !== 0x22 && byte !== 0x5b && byte !== 0x7b;
}

/** A string, some strings, the tokens of one input, or of some. */
function readInputs(input: unknown): number[] {
  if (input === undefined) throw missingParameter("input");
  if (typeof input === "string") return [stringTokens(input, "input")];
  if (!Array.isArray(input)) throw invalidType("input", "a string, or an array of strings or of tokens");
  if (input.length === 0) throw emptyArray("input");
  const areTokens = typeof input[0] === "number";
  if (input.length > mostItems) throw tooManyItems(input.length, areTokens);
  if (areTokens) return [countTokens(input, "input")];
  const kind = kindOf(input[0]);
  return input.map((item, index) => {
    if (kindOf(item) !== kind) throw invalidType(`input[${index}]`, `${kind}, as the first item is`);
    return itemTokens(item, `input[${index}]`);
  });
}

function itemTokens(item: unknown, param: string): number {
  if (typeof item === "string") return stringTokens(item, param);
  if (Array.isArray(item)) {
    if (item.length === 0) throw emptyArray(param);
    return countTokens(item, param);
  }
  // Images and the like, for upstreams that know them.
  if (isRecord(item)) return estimatePromptTokens(Buffer.from(JSON.stringify(item)), true) + marks;
  throw invalidType(param, "a string or an array of tokens");
}

function kindOf(item: unknown): string {
  if (Array.isArray(item)) return "an array of tokens";
  return typeof item === "string" ? "a string" : `an item of type ${typeof item}`;
}

function stringTokens(text: string, param: string): number {
  if (text === "") throw invalidValue(param, `'${param}' must not be an empty string.`);
  return textTokens(Buffer.from(text)) + marks;
}

function countTokens(tokens: readonly unknown[], param: string): number {
  const wrong = tokens.findIndex((token) => !(Number.isSafeInteger(token) && (token as number) >= 0));
  if (wrong >= 0) throw invalidType(`${param}[${wrong}]`, "a token: an integer of at least 0");
  return tokens.length;
}

function tooManyItems(count: number, areTokens: boolean): GatewayError {
  const hint = areTokens ? " Put the tokens of a longer input into an array of their own: [[…]]." : "";
  return new GatewayError(`'input' must hold at most ${mostItems} items, and holds ${count}.${hint}`, {
    status: 400,
    code: "array_above_max_length",
    param: "input",
  });
}

function emptyArray(param: string): GatewayError {
  return new GatewayError(`'${param}' must not be an empty array.`, { status: 400, code: "empty_array", param });
}
