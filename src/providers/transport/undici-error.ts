import { UpstreamError } from "../upstream-provider.js";

/** What an error of undici or of its socket means. `connected`: the request was already being written. */
export function toUpstreamError(error: Error, connected: boolean): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const detail = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return connected
    ? new UpstreamError("interrupted", `The connection to the upstream broke (${detail}).`, { cause: error })
    : new UpstreamError("unreachable", `The upstream could not be reached (${detail}).`, { cause: error });
}
