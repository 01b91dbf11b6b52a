import { Buffer } from "node:buffer";

/** Longer paths are cut: they end up in an error message. */
const longestPath = 200;

/**
 * Where in the document the byte at `offset` stands, as a dotted path such as `messages[0].content`.
 * For error messages only: the text before `offset` must be valid JSON so far.
 */
export function pathAt(bytes: Uint8Array, offset: number): string | null {
  const path: (string | number)[] = [];
  let position = 0;
  let key = "";
  let awaitsKey = false;
  while (position < offset) {
    const byte = bytes[position];
    if (byte === 0x22) {
      const end = stringEnd(bytes, position);
      if (end > offset) break;
      if (awaitsKey) key = readString(bytes, position, end);
      position = end;
      continue;
    }
    if (byte === 0x7b) {
      path.push("");
      awaitsKey = true;
    } else if (byte === 0x5b) {
      path.push(0);
      awaitsKey = false;
    } else if (byte === 0x7d || byte === 0x5d) {
      path.pop();
      awaitsKey = false;
    } else if (byte === 0x3a) {
      path[path.length - 1] = key;
      awaitsKey = false;
    } else if (byte === 0x2c) {
      const last = path[path.length - 1];
      awaitsKey = typeof last === "string";
      path[path.length - 1] = typeof last === "number" ? last + 1 : "";
    }
    position++;
  }
  return format(path);
}

function format(path: readonly (string | number)[]): string | null {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (part !== "") text += text === "" ? part : `.${part}`;
    if (text.length > longestPath) return `${text.slice(0, longestPath)}…`;
  }
  return text === "" ? null : text;
}

function stringEnd(bytes: Uint8Array, start: number): number {
  let position = start + 1;
  while (position < bytes.length && bytes[position] !== 0x22) position += bytes[position] === 0x5c ? 2 : 1;
  return position + 1;
}

function readString(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start + 1, end - start - 2).toString("utf8");
}
