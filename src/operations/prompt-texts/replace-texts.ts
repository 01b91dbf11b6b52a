import { asBuffer } from "../../wire/as-buffer.js";
import { ByteWriter } from "../../wire/byte-writer.js";
import { type PromptSpan, promptText, type SealedPayload } from "./find-prompt-texts.js";

/** A place of the request, and the JSON that stands there from now on. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly json: string;
}

/** Signs a payload for the request's account. */
export type SignPayload = (json: Uint8Array) => string;

/**
 * The same bytes with some texts replaced. A text that is replaced by itself stays as it is written.
 * @param texts - by path. Where several texts have one path, all of them are replaced.
 * @param sign - for texts of what the gateway has signed.
 * @throws TypeError for a path that no text has.
 */
export function replaceTexts(
  body: Uint8Array,
  spans: readonly PromptSpan[],
  texts: ReadonlyMap<string, string>,
  sign?: SignPayload,
): Uint8Array {
  const missing = new Set(texts.keys());
  const edits: Edit[] = [];
  const sealed = new Map<SealedPayload, Edit[]>();
  for (const span of spans) {
    const text = texts.get(span.path);
    if (text === undefined) continue;
    missing.delete(span.path);
    if (promptText(body, span) === text) continue;
    const edit = { start: span.start, end: span.end, json: JSON.stringify(text) };
    if (span.sealed === undefined) {
      edits.push(edit);
      continue;
    }
    const inner = sealed.get(span.sealed);
    if (inner === undefined) sealed.set(span.sealed, [edit]);
    else inner.push(edit);
  }
  for (const path of missing) throw new TypeError(`onRequest: the prompt has no text at "${path.slice(0, 200)}".`);
  for (const [{ start, end, payload }, inner] of sealed) {
    if (sign !== undefined) edits.push({ start, end, json: JSON.stringify(sign(edited(payload, inner))) });
  }
  return edited(body, sealed.size === 0 ? edits : edits.sort((one, other) => one.start - other.start));
}

/** @param edits - in their order. */
function edited(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  if (edits.length === 0) return body;
  const source = asBuffer(body);
  const out = new ByteWriter(body.length);
  let from = 0;
  for (const { start, end, json } of edits) {
    out.writeFrom(source, from, start);
    out.writeText(json);
    from = end;
  }
  out.writeFrom(source, from, source.length);
  return out.finish();
}
