import type { DirectAnswer } from "../direct-call.js";
import { UpstreamError } from "../upstream-provider.js";
import type { Transport, TransportOptions, TransportRequest } from "./transport.js";

/**
 * The transport of this runtime. Its code is loaded when it first sends something: undici takes longer to load than the
 * whole gateway, and many processes that import one never call a model.
 */
export function createLateTransport(options: TransportOptions): Transport {
  let transport: Transport | undefined;
  const sendFirst = async (request: TransportRequest): Promise<DirectAnswer> => {
    const { createTransport } = await loadTransport();
    transport ??= createTransport(options);
    return transport.send(request);
  };
  return {
    send: (request) => (transport === undefined ? sendFirst(request) : transport.send(request)),
    close: async () => transport?.close(),
  };
}

async function loadTransport(): Promise<typeof import("#transport")> {
  try {
    return await import("#transport");
  } catch (cause) {
    throw new UpstreamError("unreachable", "The code that calls model servers could not be loaded.", { cause });
  }
}
