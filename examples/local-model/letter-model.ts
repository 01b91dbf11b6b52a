import { toGguf } from "./gguf.js";

/** Tokens that every SentencePiece vocabulary begins with, and one for each byte. */
const special = ["<unk>", "<s>", "</s>"];
const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
const endOfText = 2;

/** The room for each token's own dimension; attention needs it to be even. */
const roundTo = 64;

/**
 * A model of the architecture of Llama that has learned from a text which letter follows which: each token is a dimension
 * of its own, the one block adds nothing, and the output matrix holds the logarithms of what follows how often.
 */
export function letterModel(text: string): Buffer {
  const tokens = tokensOf(text);
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const width = letterWidth(text);
  const narrow = roundTo;

  const output = new Float32Array(tokens.length * width).fill(-20);
  for (let current = 0; current < tokens.length; current++) {
    const follows = countFollowing(text, tokens[current] ?? "", ids);
    const total = [...follows.values()].reduce((sum, count) => sum + count, 0);
    for (const [next, count] of follows) output[next * width + current] = Math.log(count / total);
  }
  const identity = new Float32Array(tokens.length * width);
  for (let id = 0; id < tokens.length; id++) identity[id * width + id] = 1;

  const zeros = (rows: number, columns: number) => new Float32Array(rows * columns);
  const vector = (value: number) => new Float32Array(width).fill(value);
  const square = ["attn_q", "attn_k", "attn_v", "attn_output"].map((name) => ({
    name: `blk.0.${name}.weight`,
    shape: [width, width],
    data: zeros(width, width),
  }));
  return toGguf(
    {
      "general.architecture": { text: "llama" },
      "general.name": { text: "letters" },
      "llama.context_length": { u32: 2048 },
      "llama.embedding_length": { u32: width },
      "llama.block_count": { u32: 1 },
      "llama.feed_forward_length": { u32: narrow },
      "llama.attention.head_count": { u32: width / roundTo },
      "llama.attention.layer_norm_rms_epsilon": { f32: 1e-6 },
      "llama.rope.dimension_count": { u32: roundTo },
      "llama.vocab_size": { u32: tokens.length },
      "tokenizer.ggml.model": { text: "llama" },
      "tokenizer.ggml.tokens": { texts: tokens },
      "tokenizer.ggml.scores": { f32s: tokens.map(() => 0) },
      // Unknown, control, byte and normal tokens.
      "tokenizer.ggml.token_type": { i32s: tokens.map((_, id) => (id === 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1)) },
      "tokenizer.ggml.bos_token_id": { u32: 1 },
      "tokenizer.ggml.eos_token_id": { u32: endOfText },
      "tokenizer.ggml.unknown_token_id": { u32: 0 },
    },
    [
      { name: "token_embd.weight", shape: [width, tokens.length], data: identity },
      { name: "blk.0.attn_norm.weight", shape: [width], data: vector(1) },
      ...square,
      { name: "blk.0.ffn_norm.weight", shape: [width], data: vector(1) },
      { name: "blk.0.ffn_gate.weight", shape: [width, narrow], data: zeros(width, narrow) },
      { name: "blk.0.ffn_up.weight", shape: [width, narrow], data: zeros(width, narrow) },
      { name: "blk.0.ffn_down.weight", shape: [narrow, width], data: zeros(width, narrow) },
      // The norm before the output makes a lone 1 the square root of the width.
      { name: "output_norm.weight", shape: [width], data: vector(1 / Math.sqrt(width)) },
      { name: "output.weight", shape: [width, tokens.length], data: output },
    ],
  );
}

/** The width of the model that is made of a text. */
export function letterWidth(text: string): number {
  return Math.ceil(tokensOf(text).length / roundTo) * roundTo;
}

function tokensOf(text: string): string[] {
  return [...special, ...bytes, ...new Set(["▁", ...printable(text)])];
}

function printable(text: string): string {
  return text.replace(/[^!-~]/g, "");
}

/** How often each token follows this one. A sentence may be the last. */
function countFollowing(text: string, token: string, ids: ReadonlyMap<string, number>): Map<number, number> {
  const follows = new Map<number, number>();
  const spaced = text.replace(/\s+/g, "▁");
  const add = (next: string, count = 1) => {
    const id = ids.get(next);
    if (id !== undefined) follows.set(id, (follows.get(id) ?? 0) + count);
  };
  for (let at = spaced.indexOf(token); at >= 0; at = spaced.indexOf(token, at + 1)) add(spaced[at + 1] ?? "");
  if (token === ".") follows.set(endOfText, 1 + [...follows.values()].reduce((sum, count) => sum + count, 0));
  // Whatever else came before, an answer begins like a word.
  if (follows.size === 0) for (const match of spaced.matchAll(/▁([A-Z])/g)) add(match[1] ?? "");
  if (follows.size === 0) follows.set(endOfText, 1);
  return follows;
}
