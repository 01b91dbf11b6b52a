import { Buffer } from "node:buffer";

/** A field, or a file, whose payload is passed on in the pieces in which it came. */
export interface WrittenPart {
  readonly name: string;
  readonly filename?: string | undefined;
  readonly type?: string | undefined;
  readonly payload: readonly Uint8Array[] | string;
}

/** A boundary that nobody can foresee. */
export function newBoundary(): string {
  return `infergate-${crypto.randomUUID()}`;
}

/**
 * Writes a form in one way, which all readers understand alike.
 * @returns pieces. Payloads of files are among them as they are: nothing of them is copied.
 */
export function writeForm(parts: readonly WrittenPart[], boundary: string): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let text = "";
  for (const part of parts) {
    text += `--${boundary}\r\n${headOf(part)}\r\n\r\n`;
    if (typeof part.payload === "string") {
      text += `${part.payload}\r\n`;
      continue;
    }
    pieces.push(Buffer.from(text));
    for (const piece of part.payload) pieces.push(piece);
    text = "\r\n";
  }
  pieces.push(Buffer.from(`${text}--${boundary}--\r\n`));
  return pieces;
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
