/** A value of the header, by its type in the GGUF format. */
type Value =
  | { u32: number }
  | { f32: number }
  | { flag: boolean }
  | { text: string }
  | { texts: readonly string[] }
  | { f32s: readonly number[] }
  | { i32s: readonly number[] };

interface Tensor {
  name: string;
  /** The length of a row first. */
  shape: readonly number[];
  data: Float32Array;
}

const alignment = 32;

/** A model file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), version 3, tensors in 32-bit floats. */
export function toGguf(header: Readonly<Record<string, Value>>, tensors: readonly Tensor[]): Buffer {
  const pieces = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(Object.keys(header).length)];
  for (const [key, value] of Object.entries(header)) pieces.push(text(key), typed(value));
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    pieces.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    offset += padded(data.byteLength);
  }
  const start = pieces.reduce((length, piece) => length + piece.length, 0);
  pieces.push(Buffer.alloc(padded(start) - start));
  for (const { data } of tensors) {
    pieces.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    pieces.push(Buffer.alloc(padded(data.byteLength) - data.byteLength));
  }
  return Buffer.concat(pieces);
}

function typed(value: Value): Buffer {
  if ("u32" in value) return Buffer.concat([u32(4), u32(value.u32)]);
  if ("f32" in value) return Buffer.concat([u32(6), f32(value.f32)]);
  if ("flag" in value) return Buffer.concat([u32(7), Buffer.from([value.flag ? 1 : 0])]);
  if ("text" in value) return Buffer.concat([u32(8), text(value.text)]);
  if ("texts" in value) return list(8, value.texts.map(text));
  if ("f32s" in value) return list(6, value.f32s.map(f32));
  return list(5, value.i32s.map(u32));
}

function list(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(9), u32(type), u64(items.length), ...items]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function padded(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}
