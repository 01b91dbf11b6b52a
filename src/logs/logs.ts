import type { RequestCompleted } from "../events/request-completed.js";
import type { Observer } from "../gateway/observers/observer.js";
import { completedLine } from "./completed-line.js";

/** A logger as pino's: of Fastify, of bunyan, or `console`. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Options of {@link logs}. */
export interface LogsOptions {
  /** The level of a request's line; `undefined`: it gets none. Default: `error` from status 500 on, else `info`. */
  level?: ((event: RequestCompleted) => "info" | "warn" | "error" | undefined) | undefined;
  /** Whether warnings of the gateway are logged, too. Default: `true`. */
  warnings?: boolean | undefined;
}

/**
 * One line of a log for each request, when it has ended, and one for each warning. Prompts, answers, headers and keys are in
 * none.
 *
 * @example
 * ```ts
 * createGateway({ observers: [logs(pino())], onWarning: () => {}, ... });
 * ```
 */
export function logs(logger: Logger, options: LogsOptions = {}): Observer {
  const { level = defaultLevel, warnings = true } = options;
  const observed = {
    onCompleted(event: RequestCompleted) {
      const chosen = level(event);
      return chosen === undefined ? undefined : logger[chosen](completedLine(event), "request completed");
    },
  };
  return {
    onRequest: () => observed,
    ...(warnings && {
      onWarning: ({ code, message, requestId, cause }) => {
        const fields = {
          code,
          ...(requestId !== undefined && { requestId }),
          ...(cause !== undefined && { err: cause }),
        };
        return logger.warn(fields, oneLine(message));
      },
    }),
  };
}

function defaultLevel({ status }: RequestCompleted): "info" | "error" {
  return status >= 500 ? "error" : "info";
}

const longestMessage = 1_000;

/** A message may quote what somebody else wrote, which must not look like a line of its own. */
function oneLine(message: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are taken out
  return message.slice(0, longestMessage).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");
}
