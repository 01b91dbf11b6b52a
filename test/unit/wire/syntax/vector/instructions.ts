/** What belongs to an instruction itself; as `align`, the address of memory. */
export type Immediate =
  | "number"
  | "variable"
  | "function"
  | "label"
  | { /** The power of two that the address is a multiple of; no promise. */ readonly align: number };

interface Instruction {
  readonly opcode: readonly number[];
  readonly immediate?: Immediate;
}

const plain = (...opcode: number[]): Instruction => ({ opcode });
const memory = (align: number, ...opcode: number[]): Instruction => ({ opcode, immediate: { align } });
const vector = 0xfd;

/** WebAssembly 2.0, "Index of Instructions". */
export const instructions: Readonly<Record<string, Instruction>> = {
  br: { opcode: [0x0c], immediate: "label" },
  br_if: { opcode: [0x0d], immediate: "label" },
  return: plain(0x0f),
  call: { opcode: [0x10], immediate: "function" },
  select: plain(0x1b),
  "local.get": { opcode: [0x20], immediate: "variable" },
  "local.set": { opcode: [0x21], immediate: "variable" },
  "i32.load": memory(0, 0x28),
  "i64.load": memory(0, 0x29),
  "i32.load8_u": memory(0, 0x2d),
  "i32.store": memory(0, 0x36),
  "i32.store8": memory(0, 0x3a),
  "i32.const": { opcode: [0x41], immediate: "number" },
  "i64.const": { opcode: [0x42], immediate: "number" },
  "i32.eqz": plain(0x45),
  "i32.eq": plain(0x46),
  "i32.ne": plain(0x47),
  "i32.lt_s": plain(0x48),
  "i32.lt_u": plain(0x49),
  "i32.gt_s": plain(0x4a),
  "i32.gt_u": plain(0x4b),
  "i32.le_u": plain(0x4d),
  "i32.ge_s": plain(0x4e),
  "i32.ge_u": plain(0x4f),
  "i64.eq": plain(0x51),
  "i32.ctz": plain(0x68),
  "i32.add": plain(0x6a),
  "i32.sub": plain(0x6b),
  "i32.and": plain(0x71),
  "i32.or": plain(0x72),
  "i32.xor": plain(0x73),
  "i32.shl": plain(0x74),
  "i32.shr_u": plain(0x76),
  "v128.load": memory(0, vector, 0x00),
  "i8x16.splat": plain(vector, 0x0f),
  "i8x16.eq": plain(vector, 0x23),
  "i8x16.lt_u": plain(vector, 0x26),
  "v128.or": plain(vector, 0x50),
  "i8x16.bitmask": plain(vector, 0x64),
};
