/** Credentials of the operator, whatever a server calls them. */
const credential = /^(?:proxy-)?authorization$|api-?key$|^cookie$/;

/** What describes the body, chooses the response's format, or belongs to the connection (RFC 9110, section 7.6). */
const transport: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "date",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "max-forwards",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
]);

/** Whether the host's hook must leave a header to the gateway and its transport. */
export function isOwnedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  if (credential.test(lower) || transport.has(lower)) return true;
  return lower.startsWith("content-") || lower.startsWith("proxy-");
}
