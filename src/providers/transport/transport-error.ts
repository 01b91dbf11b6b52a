import { UpstreamError, type UpstreamFailure } from "../upstream-provider.js";

/**
 * What a rejection of `fetch` or of its body means. The standard requires only a TypeError, so this reads what Node,
 * Bun and Deno add to it.
 * @param otherwise - the kind of failure when they add nothing.
 */
export function toFetchError(error: unknown, otherwise: "unreachable" | "interrupted"): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const root = findRoot(error);
  const failure = toFailure(`${root.code} ${root.message}`, otherwise);
  return new UpstreamError(failure, `${messages[failure]} (${root.code}).`, { cause: error });
}

const messages: Record<Exclude<UpstreamFailure, "aborted">, string> = {
  timeout: "The upstream did not answer in time",
  interrupted: "The connection to the upstream broke",
  unreachable: "The upstream could not be reached",
};

function toFailure(said: string, otherwise: "unreachable" | "interrupted") {
  if (/TIMEDOUT|TIMEOUT/i.test(said)) return "timeout";
  const isBroken =
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES|OVERFLOW|HPE_|HTTPParserError|ConnectionClosed|connection (closed|reset|lost)|SendRequest/i;
  return isBroken.test(said) ? "interrupted" : otherwise;
}

/** The first error in the chain of causes that has a code, or else the last. */
function findRoot(error: unknown): { code: string; message: string } {
  let root = { code: "unknown error", message: "" };
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth += 1) {
    if ("code" in current && typeof current.code === "string") return { code: current.code, message: current.message };
    root = { code: current.name, message: current.message };
  }
  return root;
}

/** What an error of undici or of its socket means. `connected`: the request was already being written. */
export function toUpstreamError(error: Error, connected: boolean): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const detail = "code" in error && typeof error.code === "string" ? error.code : error.name;
  // What undici could not parse: a server may have repeated a key there.
  if ("data" in error) delete error.data;
  return connected
    ? new UpstreamError("interrupted", `The connection to the upstream broke (${detail}).`, { cause: error })
    : new UpstreamError("unreachable", `The upstream could not be reached (${detail}).`, { cause: error });
}

/** Of undici, where the other side has closed; and of sockets that were reset or closed. */
const codes = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** Whether the error says that the upstream has closed the connection. */
export function isLostConnection(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && codes.has(error.code);
}
