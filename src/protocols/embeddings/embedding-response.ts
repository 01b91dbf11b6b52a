import { Buffer } from "node:buffer";
import type { ModelResponse } from "../../prices/progress.js";
import { isRecord } from "../../wire/is-record.js";
import type { MemberEdits } from "../../wire/json-members.js";
import type { AttemptContext } from "../shared/exchange.js";
import { editResponse, type ReceivedResponse } from "../shared/received-response.js";
import { readPromptUsage, visibleUsage } from "../shared/usage-object.js";
import { findReport } from "../shared/usage-report.js";
import type { EmbeddingRequest } from "./embedding-request.js";

type Item = Record<string, unknown>;

/**
 * Turns an upstream's embeddings response into the client's: own model name, vectors in the order of the inputs and in
 * the requested encoding, usage always present. Everything else stays byte for byte.
 *
 * @returns `undefined` when it does not have one vector for each input.
 */
export function toEmbeddingResponse(
  received: ReceivedResponse,
  request: EmbeddingRequest,
  context: AttemptContext,
): ModelResponse | undefined {
  const { json } = received;
  if (!isRecord(json)) return undefined;
  const data = json["data"];
  if (!Array.isArray(data) || data.length !== request.inputs.length) return undefined;
  if (!data.every(isItem)) return undefined;

  const edits: MemberEdits = new Map();
  if (json["object"] !== "list") edits.set("object", '"list"');
  if (json["model"] !== context.model) edits.set("model", JSON.stringify(context.model));
  if (json["error"] === null) edits.set("error", null);
  const repaired = inOrder(data).map((item, index) => repair(item, index, request.encoding));
  if (!repaired.every(isItem)) return undefined;
  if (repaired.some((item, index) => item !== data[index])) edits.set("data", JSON.stringify(repaired));

  const usage = visibleUsage(json["usage"], context.dialect);
  const reported = readPromptUsage(findReport(json));
  const input = reported?.input ?? context.promptTokens;
  if (reported === undefined || !hasTotals(usage, input)) {
    edits.set(
      "usage",
      JSON.stringify({ ...(isRecord(usage) ? usage : {}), prompt_tokens: input, total_tokens: input }),
    );
  } else if (usage !== json["usage"]) {
    edits.set("usage", JSON.stringify(usage));
  }
  return {
    body: editResponse(received, edits),
    tokens: reported ?? { input, cachedInput: 0, output: 0, reasoning: 0 },
    estimated: reported === undefined,
    responseId: undefined,
    finishReason: undefined,
  };
}

function isItem(item: unknown): item is Item {
  if (!isRecord(item)) return false;
  const vector = item["embedding"];
  return (Array.isArray(vector) && vector.length > 0) || (typeof vector === "string" && vector !== "");
}

/** Sorts by `index`, if each index occurs once. Some servers omit it or always send 0. */
function inOrder(data: readonly Item[]): readonly Item[] {
  const ordered: Item[] = [];
  for (const item of data) {
    const { index } = item;
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= data.length) return data;
    if (ordered[index as number] !== undefined) return data;
    ordered[index as number] = item;
  }
  return ordered;
}

/** @returns the item itself when nothing has to change; `undefined` when it contains no vector. */
function repair(item: Item, index: number, encoding: EmbeddingRequest["encoding"]): Item | undefined {
  const embedding = inEncoding(item["embedding"], encoding);
  if (embedding === undefined) return undefined;
  if (item["object"] === "embedding" && item["index"] === index && item["embedding"] === embedding) return item;
  return { ...item, object: "embedding", index, embedding };
}

/** Converts the encoding. Lists of vectors, base64 of other numbers, and unknown encodings stay unchanged. */
function inEncoding(embedding: unknown, encoding: EmbeddingRequest["encoding"]): unknown {
  if (encoding === "other" || isVectors(embedding)) return embedding;
  if (typeof embedding === "string") {
    if (encoding === "float") return fromBase64(embedding);
    return base64.test(embedding) ? embedding : undefined;
  }
  if (!isVector(embedding)) return undefined;
  return encoding === "base64" ? toBase64(embedding) : embedding;
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

function isVectors(embedding: unknown): boolean {
  return Array.isArray(embedding) && Array.isArray(embedding[0]) && embedding.every(isVector);
}

function hasTotals(usage: unknown, input: number): boolean {
  return isRecord(usage) && usage["prompt_tokens"] === input && Number.isInteger(usage["total_tokens"]);
}

/** Base64 of little-endian 32-bit floats, as OpenAI writes them. */
export function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}

/** @returns `undefined` when it is not the base64 of 32-bit floats. */
export function fromBase64(text: string): number[] | undefined {
  const bytes = Buffer.from(text, "base64");
  let length = text.length;
  // No regular expression: for a text full of `=`, backtracking from each of them would take hours.
  while (text.charAt(length - 1) === "=") length--;
  if (bytes.length !== Math.floor((length * 3) / 4)) return undefined;
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  const vector: number[] = new Array(bytes.length / 4);
  for (let index = 0; index < vector.length; index++) {
    const value = bytes.readFloatLE(index * 4);
    // JSON has no other numbers.
    if (!Number.isFinite(value)) return undefined;
    vector[index] = value;
  }
  return vector;
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((number) => typeof number === "number");
}
