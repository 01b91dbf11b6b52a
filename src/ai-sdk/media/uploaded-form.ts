import type { Buffer } from "node:buffer";
import { FormScan } from "../../wire/form/form-scan.js";
import { boundaryOf } from "../../wire/form/form-type.js";
import { PiecedBytes } from "../../wire/pieces/pieced-bytes.js";
import { bySize, type Steps, slicesOf } from "../../wire/slices.js";

/** A form with one file, as the gateway writes it. */
export interface UploadedForm {
  /** By name, without the `[]` of lists. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly file: Buffer;
  /** The content type of the file, as the client says. */
  readonly type: string | undefined;
}

// More than the gateway lets in: it has checked the form.
const limits = { mostParts: 1024, mostFiles: 16 };

/** @throws TypeError when it is none. */
export function readUploadedForm(
  body: Uint8Array,
  contentType: string | undefined,
): UploadedForm | Promise<UploadedForm> {
  const boundary = boundaryOf(contentType ?? "");
  if (boundary === undefined) throw new TypeError("The call's body is no form.");
  return bySize(body.length, formSteps(body, boundary));
}

function* formSteps(body: Uint8Array, boundary: string): Steps<UploadedForm> {
  const source = new PiecedBytes([body]);
  const scan = new FormScan(source, boundary, limits);
  yield* slicesOf(scan);
  const fields = new Map<string, string[]>();
  for (const { name, filename, start, end } of scan.parts) {
    if (filename !== undefined) continue;
    const list = name.replace(/\[\d*\]$/, "");
    fields.set(list, [...(fields.get(list) ?? []), source.part(start, end).toString()]);
  }
  const part = scan.parts.find(({ name, filename }) => name === "file" && filename !== undefined);
  if (scan.fault !== undefined || part === undefined) throw new TypeError("The call's form has no file.");
  return { fields, file: source.part(part.start, part.end), type: part.type };
}
