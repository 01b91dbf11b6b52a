import { Buffer } from "node:buffer";

/** A field, or a file of which only the payload is passed on as it came. */
export interface WrittenPart {
  readonly name: string;
  readonly filename?: string | undefined;
  readonly type?: string | undefined;
  readonly payload: Uint8Array | string;
}

/** A form as it is written: one way for all readers. */
export interface WrittenForm {
  readonly contentType: string;
  /** Payloads of files are slices of the client's bytes: nothing of them is copied. */
  readonly pieces: readonly Uint8Array[];
}

/** Writes a form. @param boundary - default: one of its own, which nobody can foresee. */
export function writeForm(parts: readonly WrittenPart[], boundary = `infergate-${crypto.randomUUID()}`): WrittenForm {
  const pieces: Uint8Array[] = [];
  let text = "";
  for (const part of parts) {
    text += `--${boundary}\r\n${headOf(part)}\r\n\r\n`;
    if (typeof part.payload === "string") {
      text += `${part.payload}\r\n`;
      continue;
    }
    pieces.push(Buffer.from(text), part.payload);
    text = "\r\n";
  }
  pieces.push(Buffer.from(`${text}--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, pieces };
}

function headOf({ name, filename, type }: WrittenPart): string {
  const file = filename === undefined ? "" : `; filename="${quoted(filename)}"`;
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"${file}`;
  return type === undefined ? disposition : `${disposition}\r\nContent-Type: ${type}`;
}

/** As browsers write it (WHATWG HTML, section 4.10.22.8). */
function quoted(text: string): string {
  return text.replace(
    /[\r\n"]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}
