import { expect, it } from "vitest";
import { toFetchError } from "../../../../src/providers/transport/transport-error.js";
import { UpstreamError } from "../../../../src/providers/upstream-provider.js";

function coded(code: string, message = "failed"): Error {
  return Object.assign(new Error(message), { code });
}

const nodeError = (cause: Error) => new TypeError("fetch failed", { cause });

it.each([
  ["Node, refused", nodeError(coded("ECONNREFUSED")), "unreachable"],
  ["Node, no such host", nodeError(coded("ENOTFOUND")), "unreachable"],
  ["Node, reset", nodeError(coded("ECONNRESET")), "interrupted"],
  ["Node, closed", nodeError(coded("UND_ERR_SOCKET", "other side closed")), "interrupted"],
  ["Node, garbage", nodeError(coded("HPE_INVALID_CONSTANT")), "interrupted"],
  ["Node, slow to connect", nodeError(coded("UND_ERR_CONNECT_TIMEOUT")), "timeout"],
  ["Node, slow to answer", nodeError(coded("UND_ERR_HEADERS_TIMEOUT")), "timeout"],
  [
    "Bun, refused",
    coded("ConnectionRefused", "Unable to connect. Is the computer able to access the url?"),
    "unreachable",
  ],
  ["Bun, closed", coded("ConnectionClosed"), "interrupted"],
  ["Deno, refused", new TypeError("error sending request: client error (Connect): Connection refused"), "unreachable"],
  [
    "Deno, closed",
    new TypeError("client error (SendRequest): connection closed before message completed"),
    "interrupted",
  ],
  ["Workers", new Error("Network connection lost."), "interrupted"],
  ["anything", new TypeError("fetch failed"), "unreachable"],
  ["not even an error", "no", "unreachable"],
])("tells what a rejection of fetch means: %s", (_name, error, failure) => {
  expect(toFetchError(error, "unreachable")).toMatchObject({ name: "UpstreamError", failure, cause: error });
});

it("passes an UpstreamError on", () => {
  const error = new UpstreamError("timeout", "too late");
  expect(toFetchError(error, "interrupted")).toBe(error);
});
