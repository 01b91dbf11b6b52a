import type { Warn } from "../events/warning.js";
import type { RequestHead } from "../http/message.js";

/** Short, and safe in headers, logs and URLs. */
const usable = /^[\w.~:/+=@-]{1,128}$/;

/**
 * The host's own id of a request.
 * @returns `undefined` where the host gives none that can be used.
 */
export function hostRequestId(
  read: (request: RequestHead) => string | undefined,
  request: RequestHead,
  warn: Warn,
): string | undefined {
  const fail = (cause: unknown): void =>
    warn({ code: "hook_failed", message: "The function requestId failed. The gateway's own id is used.", cause });
  let given: unknown;
  try {
    given = read(request);
  } catch (cause) {
    fail(cause);
    return undefined;
  }
  if (typeof given === "string") return usable.test(given) ? given : undefined;
  // An async function is a mistake. Its rejection must not end the process.
  if (given instanceof Promise) given.then(() => fail(new TypeError("It must not be async.")), fail);
  return undefined;
}
