import { Buffer } from "node:buffer";
import { GatewayError, invalidType, invalidValue, missingParameter } from "./errors.js";
import { type JsonMember, splice } from "./json-members.js";
import { memberOf, parseJsonRequest, readCount, readMember, readModel } from "./json-request.js";
import { estimatePromptTokens, estimateTokens } from "./token-estimate.js";
import { isRecord } from "./usage.js";

/** What the gateway itself reads of an embeddings request (OpenAI reference, "Create embeddings"). */
export interface EmbeddingRequest {
  /** The text as the client sent it. */
  readonly body: Uint8Array;
  readonly members: readonly JsonMember[];
  readonly model: string;
  /** Vectors do not come in a stream. */
  readonly stream: false;
  readonly includeUsage: false;
  /** An estimate of each input's tokens; exact for inputs that are tokens. One vector is due for each. */
  readonly inputTokens: readonly number[];
  /** Encodings of others than OpenAI are the upstream's affair. */
  readonly encoding: "float" | "base64" | "other";
}

/** OpenAI's own limit. */
const mostInputs = 2048;

/** What models put around an input: its beginning and its end. */
const marks = 2;

/**
 * Checks what the gateway itself relies on; every other member goes to the upstream as it is, known or not.
 * @throws GatewayError 400
 */
export function parseEmbeddingRequest(bytes: Uint8Array, maxDepth: number): EmbeddingRequest {
  const request = parseJsonRequest(bytes, maxDepth);
  const { body, members } = request;
  const model = readModel(request);
  const inputTokens = readInputs(readMember(request, "input"));
  readCount("dimensions", readMember(request, "dimensions"));
  const encoding = readMember(request, "encoding_format") ?? "float";
  if (typeof encoding !== "string") throw invalidType("encoding_format", "'float' or 'base64'");
  return {
    body,
    members,
    model,
    stream: false,
    includeUsage: false,
    inputTokens,
    encoding: encoding === "float" || encoding === "base64" ? encoding : "other",
  };
}

/** An estimate of all inputs; a model reads no more than `contextLength` of each. */
export function embeddingTokens({ inputTokens }: EmbeddingRequest, contextLength: number): number {
  return inputTokens.reduce((sum, tokens) => sum + Math.min(tokens, contextLength), 0);
}

/** The request for the upstream: the model under its name there. Everything else stays byte for byte. */
export function toUpstreamEmbeddingBody({ body, members }: EmbeddingRequest, target: { model: string }): Uint8Array {
  const { start, end } = memberOf(members, "model") as JsonMember;
  return splice(body, start, end, JSON.stringify(target.model));
}

/** A string, some strings, the tokens of one input, or of some. */
function readInputs(input: unknown): number[] {
  if (input === undefined) throw missingParameter("input");
  if (typeof input === "string") return [textTokens(input, "input")];
  if (!Array.isArray(input)) throw invalidType("input", "a string, or an array of strings or of tokens");
  if (input.length === 0) throw emptyArray("input");
  if (typeof input[0] === "number") return [countTokens(input, "input")];
  if (input.length > mostInputs) {
    throw new GatewayError(`'input' must hold at most ${mostInputs} items, and holds ${input.length}.`, {
      status: 400,
      code: "array_above_max_length",
      param: "input",
    });
  }
  const kind = kindOf(input[0]);
  return input.map((item, index) => {
    if (kindOf(item) !== kind) throw invalidType(`input[${index}]`, `${kind}, as the first item is`);
    return itemTokens(item, `input[${index}]`);
  });
}

function itemTokens(item: unknown, param: string): number {
  if (typeof item === "string") return textTokens(item, param);
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

function textTokens(text: string, param: string): number {
  if (text === "") throw invalidValue(param, `'${param}' must not be an empty string.`);
  return estimateTokens(Buffer.byteLength(text)) + marks;
}

function countTokens(tokens: readonly unknown[], param: string): number {
  const wrong = tokens.findIndex((token) => !(Number.isSafeInteger(token) && (token as number) >= 0));
  if (wrong >= 0) throw invalidType(`${param}[${wrong}]`, "a token: an integer of at least 0");
  return tokens.length;
}

function emptyArray(param: string): GatewayError {
  return new GatewayError(`'${param}' must not be an empty array.`, { status: 400, code: "empty_array", param });
}
