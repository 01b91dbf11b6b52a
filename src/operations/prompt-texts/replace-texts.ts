import { asBuffer } from "../../wire/as-buffer.js";
import { ByteWriter } from "../../wire/byte-writer.js";
import { valueAt } from "../../wire/json-members.js";
import type { PromptSpan } from "./find-prompt-texts.js";

/**
 * The same bytes with some texts replaced. A text that is replaced by itself stays as it is written.
 * @param texts - by path. Where several texts have one path, all of them are replaced.
 * @throws TypeError for a path that no text has.
 */
export function replaceTexts(
  body: Uint8Array,
  spans: readonly PromptSpan[],
  texts: ReadonlyMap<string, string>,
): Uint8Array {
  const source = asBuffer(body);
  const missing = new Set(texts.keys());
  let out: ByteWriter | undefined;
  let from = 0;
  for (const { path, start, end } of spans) {
    const text = texts.get(path);
    if (text === undefined) continue;
    missing.delete(path);
    if (valueAt(body, { start, end }) === text) continue;
    out ??= new ByteWriter(body.length);
    out.writeFrom(source, from, start);
    out.writeText(JSON.stringify(text));
    from = end;
  }
  for (const path of missing) throw new TypeError(`onRequest: the prompt has no text at "${path.slice(0, 200)}".`);
  if (out === undefined) return body;
  out.writeFrom(source, from, source.length);
  return out.finish();
}
