/** A field name (RFC 9110, section 5.1). */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

/** A field value that every transport sends the same way: visible ASCII, with spaces and tabs inside. */
export function isHeaderValue(text: string): boolean {
  return /^([!-~]([ \t!-~]*[!-~])?)?$/.test(text);
}
