import type { DirectAnswer } from "../direct-call.js";
import { UpstreamError } from "../upstream-provider.js";
import type { Transport, TransportOptions, TransportRequest } from "./transport.js";

/** Loads the code of a transport. */
export type LoadTransport = () => Promise<{
  createTransport(options: TransportOptions): Transport | Promise<Transport>;
}>;

/**
 * The transport of this runtime. Its code is loaded when it first sends something: undici takes half as long to load as
 * the whole gateway, and many processes that import a gateway call no model, such as those that build an app.
 */
export function createLateTransport(
  options: TransportOptions,
  load: LoadTransport = () => import("#transport"),
): Transport {
  let transport: Transport | undefined;
  const sendFirst = async (request: TransportRequest): Promise<DirectAnswer> => {
    const made = await load()
      .then(({ createTransport }) => createTransport(options))
      .catch(notLoaded);
    // Several requests may have made one, as none waits for another's. The first sends for all.
    transport ??= made;
    return transport.send(request);
  };
  return {
    send: (request) => (transport === undefined ? sendFirst(request) : transport.send(request)),
    close: async () => transport?.close(),
  };
}

function notLoaded(cause: unknown): never {
  throw new UpstreamError("unreachable", "The code that calls model servers cannot be loaded.", { cause });
}
