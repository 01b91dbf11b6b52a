type ToGguf = typeof import("../../../examples/local-model/gguf.js").toGguf;

const width = 64;
const inner = 64;
const melBands = 80;
/** Of half a minute of audio. */
const length = 1500;

/** What lets a model of llama.cpp take audio, and hear nothing in it. @param modelWidth - of the model's own. */
export function earModel(toGguf: ToGguf, modelWidth: number): Buffer {
  const tensor = (name: string, ...shape: number[]) => ({
    name,
    shape,
    data: new Float32Array(shape.reduce((product, side) => product * side, 1)),
  });
  const linear = (name: string, from: number, to: number, hasBias = true) => [
    tensor(`${name}.weight`, from, to),
    ...(hasBias ? [tensor(`${name}.bias`, to)] : []),
  ];
  const norm = (name: string) => [
    { name: `${name}.weight`, shape: [width], data: new Float32Array(width).fill(1) },
    tensor(`${name}.bias`, width),
  ];
  return toGguf(
    {
      "general.architecture": { text: "clip" },
      "clip.has_audio_encoder": { flag: true },
      "clip.projector_type": { text: "qwen2a" },
      "clip.audio.embedding_length": { u32: width },
      "clip.audio.feed_forward_length": { u32: inner },
      "clip.audio.block_count": { u32: 1 },
      "clip.audio.projection_dim": { u32: modelWidth },
      "clip.audio.attention.head_count": { u32: 1 },
      "clip.audio.attention.layer_norm_epsilon": { f32: 1e-5 },
      "clip.audio.num_mel_bins": { u32: melBands },
    },
    [
      tensor("a.position_embd.weight", width, length),
      tensor("a.conv1d.1.weight", 3, melBands, width),
      tensor("a.conv1d.1.bias", 1, width),
      tensor("a.conv1d.2.weight", 3, width, width),
      tensor("a.conv1d.2.bias", 1, width),
      ...["attn_q", "attn_k", "attn_v", "attn_out"].flatMap((name) =>
        linear(`a.blk.0.${name}`, width, width, name !== "attn_k"),
      ),
      ...norm("a.blk.0.ln1"),
      ...norm("a.blk.0.ln2"),
      ...linear("a.blk.0.ffn_up", width, inner),
      ...linear("a.blk.0.ffn_down", inner, width),
      ...norm("a.post_ln"),
      ...linear("mm.a.fc", width, modelWidth),
    ],
  );
}
