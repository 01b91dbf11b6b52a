/** The headers of a stream of events. `no-transform` stops middleware and proxies, and `x-accel-buffering` stops nginx, from holding events back. */
export function streamHeaders(): Record<string, string> {
  // A new literal each time: adding a header to a copied object takes microseconds.
  return {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  };
}
