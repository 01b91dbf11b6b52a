import { UpstreamError, type UpstreamFailure } from "./upstream-provider.js";

/**
 * What a rejection of `fetch` or of its body means. The standard says no more than TypeError, so this goes by the codes
 * that Node, Bun and Deno add; `otherwise` is what it is without one.
 */
export function toFetchError(error: unknown, otherwise: "unreachable" | "interrupted"): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const code = readCode(error);
  const failure = toFailure(code, otherwise);
  const detail = code ?? (error instanceof Error ? error.name : "unknown error");
  return new UpstreamError(failure, `${messages[failure]} (${detail}).`, { cause: error });
}

const messages: Record<Exclude<UpstreamFailure, "aborted">, string> = {
  timeout: "The upstream did not answer in time",
  interrupted: "The connection to the upstream broke",
  unreachable: "The upstream could not be reached",
};

function toFailure(code: string | undefined, otherwise: "unreachable" | "interrupted") {
  if (code === undefined) return otherwise;
  if (/TIMEDOUT|TIMEOUT/i.test(code)) return "timeout";
  if (/ECONNRESET|EPIPE|UND_ERR_SOCKET|^HPE_|UND_ERR_RES|OVERFLOW|ConnectionClosed/.test(code)) return "interrupted";
  return otherwise;
}

/** The `code` of the error or of what caused it. */
function readCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth += 1) {
    if ("code" in current && typeof current.code === "string") return current.code;
  }
  return undefined;
}
