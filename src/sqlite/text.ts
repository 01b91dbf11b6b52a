/**
 * Whether a text comes out of SQLite as it went in. Drivers cut it at a NUL, and replace what is no Unicode: the names
 * of two accounts must not become one.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
