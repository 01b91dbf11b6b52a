import { Buffer } from "node:buffer";

/** A part of a form: a text, or a file. */
type SamplePart = string | { readonly filename: string; readonly type: string; readonly bytes: Buffer };

export type FormSample = readonly (readonly [name: string, part: SamplePart])[];

const boundary = "infergate-sample-7Qx2";

export const formContentType = `multipart/form-data; boundary=${boundary}`;

/** The form as the gateway writes one. */
export function toFormBytes(form: FormSample): Buffer {
  const pieces = form.map(([name, part]) => {
    const isText = typeof part === "string";
    const file = isText ? "" : `; filename="${part.filename}"\r\ncontent-type: ${part.type}`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), isText ? Buffer.from(part) : part.bytes, Buffer.from("\r\n")]);
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

/** The parts of a form that came, files as the hexadecimal of their bytes. */
export async function readForm(
  body: Buffer,
  contentType: string | undefined,
): Promise<[name: string, value: string][]> {
  const request = new Response(new Uint8Array(body), { headers: { "content-type": contentType ?? "" } });
  const entries = [...(await request.formData()).entries()];
  return Promise.all(
    entries.map(async ([name, value]): Promise<[string, string]> => {
      if (typeof value === "string") return [name, value];
      return [name, Buffer.from(await value.arrayBuffer()).toString("hex")];
    }),
  );
}

/** The same of a sample. */
export function formEntries(form: FormSample): [name: string, value: string][] {
  return form.map(([name, part]) => [name, typeof part === "string" ? part : part.bytes.toString("hex")]);
}
