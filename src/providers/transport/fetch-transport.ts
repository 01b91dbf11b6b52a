import { UpstreamError } from "../upstream-provider.js";
import { toFetchBody } from "./fetch-body.js";
import { FetchCall } from "./fetch-call.js";
import type { Transport, TransportOptions } from "./transport.js";

/** The transport for every runtime that has `fetch`; the runtime manages the connections. */
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
