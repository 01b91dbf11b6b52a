import { UpstreamError } from "../upstream-provider.js";
import { toFetchBody } from "./fetch-body.js";
import { FetchCall } from "./fetch-call.js";
import type { Transport, TransportOptions } from "./transport.js";

/**
 * The transport for every runtime that has `fetch`; the runtime manages the connections.
 *
 * `fetch` does not tell over which connection a request went, nor whether that one was kept after an earlier response.
 * Its error is the same TypeError for a new connection that was reset. So nothing is repeated here: what a kept connection
 * loses is up to the runtime, some of which send such requests once more by themselves, and else to the attempts of the
 * model.
 */
export function createFetchTransport(options: TransportOptions): Transport {
  return {
    async send({ path, headers, body, signal, handover }) {
      if (signal.aborted) throw new UpstreamError("aborted", "The call was aborted.", { cause: signal.reason });
      const call = new FetchCall(signal, options);
      // Called without a receiver, as browsers and workers insist on.
      const fetch = options.fetch ?? globalThis.fetch;
      handover?.handedOver();
      return call.open((abortSignal) =>
        // Not followed: a redirect could carry the body to a foreign host, or turn the POST into a GET.
        fetch(options.origin + path, {
          method: "POST",
          headers: { ...headers },
          body: toFetchBody(body),
          signal: abortSignal,
          redirect: "manual",
        }),
      );
    },
    async close() {},
  };
}
