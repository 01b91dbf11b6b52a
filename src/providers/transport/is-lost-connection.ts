/** Of undici, where the other side has closed; and of sockets that were reset or closed. */
const codes = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** Whether the error says that the upstream has closed the connection. */
export function isLostConnection(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && codes.has(error.code);
}
