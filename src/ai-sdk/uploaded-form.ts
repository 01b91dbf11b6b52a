import type { Buffer } from "node:buffer";
import { FormScan } from "../wire/form.js";
import { boundaryOf } from "../wire/form-boundary.js";
import { PiecedBytes } from "../wire/pieced-bytes.js";
import { bySize, type Steps, slicesOf } from "../wire/slices.js";

export interface UploadedFile {
  /** Of its field, without the `[]` of lists. */
  readonly name: string;
  readonly bytes: Buffer;
  /** The content type, as the client says. */
  readonly type: string | undefined;
}

/** A form as the gateway writes it. */
export interface UploadedForm {
  /** By name, without the `[]` of lists. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly files: readonly UploadedFile[];
}

// More than the gateway lets in: it has checked the form.
const limits = { mostParts: 1024, mostFiles: 32 };

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
  if (scan.fault !== undefined) throw new TypeError("The call's body is no form.");
  const fields = new Map<string, string[]>();
  const files: UploadedFile[] = [];
  for (const { name: written, filename, type, start, end } of scan.parts) {
    const name = written.replace(/\[\d*\]$/, "");
    const bytes = source.part(start, end);
    if (filename !== undefined) files.push({ name, bytes, type });
    else fields.set(name, [...(fields.get(name) ?? []), bytes.toString()]);
  }
  return { fields, files };
}
