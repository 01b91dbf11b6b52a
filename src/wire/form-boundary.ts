import { Buffer } from "node:buffer";

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** As RFC 2046 has it, in which no space is last. */
const boundary = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const parameter = new RegExp(`^\\s*;\\s*(${token})=(?:(${token})|"([^"\\\\]*)")`);

/** Whether a content type says that the body is a form of parts. */
export function isFormType(contentType: string | undefined): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(contentType ?? "");
}

/** @returns `undefined` when the content type is none of a form, or has no boundary or several. */
export function boundaryOf(contentType: string): string | undefined {
  const type = /^\s*multipart\/form-data/i.exec(contentType);
  if (type === null || contentType.length > 512) return undefined;
  let rest = contentType.slice(type[0].length);
  let found: string | undefined;
  while (rest.trim() !== "") {
    const next = parameter.exec(rest);
    if (next === null) return undefined;
    const [all, name = "", plain, quoted] = next;
    rest = rest.slice(all.length);
    if (name.toLowerCase() !== "boundary") continue;
    if (found !== undefined) return undefined;
    found = plain ?? quoted ?? "";
  }
  return found !== undefined && boundary.test(found) ? found : undefined;
}

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
