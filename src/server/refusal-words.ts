import type { Caller } from "../access/caller.js";
import { GatewayError } from "../errors/gateway-error.js";
import type { Warn } from "../events/warning.js";
import type { RefusalMessages } from "../hooks/refusal-messages.js";

/** Those by which the gateway says what an account, a plan or a key does not have. */
const codes: ReadonlySet<string> = new Set([
  ...["session_limit_exceeded", "week_limit_exceeded", "month_limit_exceeded", "insufficient_quota"],
  ...["key_limit_exceeded", "budget_exceeded", "rate_limit_exceeded", "model_not_allowed"],
  ...["own_key_required", "own_key_refused", "own_key_limited"],
]);

const longestMessage = 2_000;

/** How the host says it to people. */
export interface RefusalWords {
  readonly messages: RefusalMessages;
  readonly warn: Warn;
}

/** The error with the host's words, where it has some for it. Status, code and headers stay: clients go by them. */
export function inOwnWords<Thrown>(
  thrown: Thrown,
  { messages, warn }: RefusalWords,
  { account, plan, keyId, tags }: Caller,
  requestId: string,
): Thrown | GatewayError {
  if (!(thrown instanceof GatewayError) || !codes.has(thrown.code)) return thrown;
  const { message, status, code, type, param, headers, details, cause } = thrown;
  const fail = (cause: unknown): Thrown => {
    warn({
      code: "hook_failed",
      message: "The option `messages` failed. The gateway's own words are used.",
      cause,
      requestId,
    });
    return thrown;
  };
  let own: unknown;
  try {
    const of = { account, plan, ...(keyId !== undefined && { keyId }), ...(tags !== undefined && { tags }) };
    own = messages({ code, status, message, ...of });
  } catch (cause) {
    return fail(cause);
  }
  if (own === undefined) return thrown;
  // An async function is a mistake. Its rejection must not end the process.
  if (own instanceof Promise) own.catch(() => {});
  if (typeof own !== "string" || own === "" || own.length > longestMessage) {
    return fail(new TypeError(`It must give a text of 1 to ${longestMessage} characters, or undefined.`));
  }
  return new GatewayError(own, { status, code, type, param, headers, details, cause });
}
