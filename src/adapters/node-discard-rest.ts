import type { Readable } from "node:stream";

/** How much of an unused body is read, and for how long. */
const mostBytes = 64 * 1024 * 1024;
const mostMs = 2000;

/**
 * Reads the rest of a request whose response is written already. A connection that is closed while its client is still
 * sending is reset, and the response may be lost with it.
 */
export function discardRest(req: Readable, done: () => void): void {
  let taken = 0;
  const stop = () => {
    clearTimeout(timer);
    req.off("data", take).off("end", stop).off("close", stop);
    done();
  };
  const take = (piece: Uint8Array | string) => {
    taken += piece.length;
    if (taken > mostBytes) stop();
  };
  const timer = setTimeout(stop, mostMs).unref();
  req.on("data", take).on("end", stop).on("close", stop);
  req.resume();
}
