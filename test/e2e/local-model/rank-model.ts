/** A tensor of a model that nobody has trained: the same numbers each time. */
function untrained(length: number, seed: number): Float32Array {
  let state = seed >>> 0 || 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

type ToGguf = typeof import("../../../examples/local-model/gguf.js").toGguf;

/** Tokens that every vocabulary of BERT begins with. */
const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const letters = [..."abcdefghijklmnopqrstuvwxyz0123456789.,:;!?'-"];

const width = 32;
const inner = 64;
const length = 512;

/** A cross-encoder of the architecture of BERT, with weights at random: it scores each pair of texts alike each time. */
export function rankModel(toGguf: ToGguf): Buffer {
  // A letter that begins a word, and one within.
  const tokens = [...special, ...letters.map((letter) => `▁${letter}`), ...letters];
  let seed = 0;
  const weight = (name: string, ...shape: number[]) => ({
    name,
    shape,
    data: untrained(
      shape.reduce((product, side) => product * side, 1),
      ++seed,
    ),
  });
  const norm = (name: string) => [
    { name: `${name}.weight`, shape: [width], data: new Float32Array(width).fill(1) },
    { name: `${name}.bias`, shape: [width], data: new Float32Array(width) },
  ];
  return toGguf(
    {
      "general.architecture": { text: "bert" },
      "general.name": { text: "ranks" },
      "bert.context_length": { u32: length },
      "bert.embedding_length": { u32: width },
      "bert.block_count": { u32: 1 },
      "bert.feed_forward_length": { u32: inner },
      "bert.attention.head_count": { u32: 2 },
      "bert.attention.layer_norm_epsilon": { f32: 1e-12 },
      // Not a word of what follows, but a score of the whole.
      "bert.pooling_type": { u32: 4 },
      "tokenizer.ggml.model": { text: "bert" },
      "tokenizer.ggml.tokens": { texts: tokens },
      "tokenizer.ggml.token_type_count": { u32: 1 },
      "tokenizer.ggml.bos_token_id": { u32: 2 },
      "tokenizer.ggml.seperator_token_id": { u32: 3 },
      "tokenizer.ggml.unknown_token_id": { u32: 1 },
      "tokenizer.ggml.padding_token_id": { u32: 0 },
      "tokenizer.ggml.mask_token_id": { u32: 4 },
    },
    [
      weight("token_embd.weight", width, tokens.length),
      weight("token_types.weight", width, 1),
      weight("position_embd.weight", width, length),
      ...norm("token_embd_norm"),
      ...["attn_q", "attn_k", "attn_v", "attn_output"].map((name) => weight(`blk.0.${name}.weight`, width, width)),
      ...norm("blk.0.attn_output_norm"),
      weight("blk.0.ffn_up.weight", width, inner),
      weight("blk.0.ffn_down.weight", inner, width),
      ...norm("blk.0.layer_output_norm"),
      weight("cls.output.weight", width, 1),
    ],
  );
}
