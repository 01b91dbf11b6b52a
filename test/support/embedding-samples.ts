import { type FakeAnswer, wholeAnswer } from "../../src/testing.js";

/** Three numbers that are exact as 32-bit floats, and differ between inputs. */
export function sampleVector(input: unknown): number[] {
  const bytes = Buffer.from(JSON.stringify(input));
  return [bytes.length / 4, (bytes.at(1) ?? 0) / 128, -0.5];
}

/** A vector as OpenAI sends it for `encoding_format: "base64"`. */
export function sampleBase64(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString("base64");
}

/** What there is a vector for each of. */
export function inputsOf(input: unknown): unknown[] {
  return Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
}

export interface EmbeddingSample {
  /** How the server encodes, whatever the request wants. Default: as the request wants. */
  encoding?: "float" | "base64";
  /** `null`: none. Default: 4 tokens for each input. */
  usage?: Record<string, unknown> | null;
  /** Changes the items before they are sent. */
  items?: (items: Record<string, unknown>[]) => unknown[];
}

/** What an honest embeddings server does, and variants of it. */
export function honestEmbeddings(sample: EmbeddingSample = {}): FakeAnswer {
  return (request, response) => {
    const { model, input, encoding_format: asked } = request.json;
    const encoding = sample.encoding ?? asked ?? "float";
    const inputs = inputsOf(input);
    const items = inputs.map((item, index) => {
      const vector = sampleVector(item);
      return { object: "embedding", index, embedding: encoding === "base64" ? sampleBase64(vector) : vector };
    });
    const tokens = inputs.length * 4;
    const usage = sample.usage === undefined ? { prompt_tokens: tokens, total_tokens: tokens } : sample.usage;
    const answer = { object: "list", data: sample.items?.(items) ?? items, model, ...(usage ? { usage } : {}) };
    return wholeAnswer(answer)(request, response);
  };
}
