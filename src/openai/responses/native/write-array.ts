import { ByteWriter } from "../../../wire/byte-writer.js";

/** An array of these elements, as JSON. @param size - what will probably be needed. */
export function writeArray(elements: readonly Uint8Array[], size: number): Uint8Array {
  const out = new ByteWriter(size);
  let next = "[";
  for (const element of elements) {
    out.writeText(next);
    out.write(element);
    next = ",";
  }
  out.writeText(next === "[" ? "[]" : "]");
  return out.finish();
}
