/**
 * The response, unless the signal is aborted before it is there. A response that comes later is read no more.
 * Rejects with the signal's reason.
 */
export function unlessAborted(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const stop = () => signal.removeEventListener("abort", abort);
    response.then(
      (come) => {
        stop();
        if (!signal.aborted) {
          resolve(come);
          return;
        }
        reject(signal.reason);
        come.body?.cancel().catch(() => {});
      },
      (thrown: unknown) => {
        stop();
        reject(thrown);
      },
    );
  });
}
