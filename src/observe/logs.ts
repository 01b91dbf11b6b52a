import type { RequestCompleted } from "../events/request-completed.js";
import type { Observer } from "../gateway/observers/observer.js";
import { imagesOf } from "../prices/usage-counts.js";

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

/** The fields of a request's line. Those that the request does not have are absent. */
function completedLine(event: RequestCompleted): Record<string, unknown> {
  const { requestId, endpoint, account, keyId, plan, model, status, errorCode, stream, attempts, durations } = event;
  const target = attempts.at(-1);
  const fields = {
    ...{ requestId, endpoint, account, keyId, plan, model, status, errorCode, stream },
    endReason: event.endReason,
    disconnect: event.disconnect,
    provider: target?.provider,
    upstreamModel: target?.model,
    attempts: attempts.length,
    ...(event.usageSource !== undefined && useOf(event)),
    totalMs: rounded(durations.total),
    firstByteMs: rounded(durations.firstByte),
    upstreamMs: rounded(durations.upstream),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function useOf({ tokens, chargedMicro, costMicro, usageSource }: RequestCompleted): Record<string, unknown> {
  const {
    input: inputTokens,
    cachedInput: cachedInputTokens,
    output: outputTokens,
    reasoning: reasoningTokens,
    audioMs,
    characters,
    searches,
  } = tokens;
  const ofTokens = { inputTokens, cachedInputTokens, outputTokens, reasoningTokens };
  const units = { images: imagesOf(tokens), audioMs, characters, searches };
  return { ...ofTokens, ...units, chargedMicro, costMicro, usageSource };
}

/** Milliseconds, to the microsecond. */
function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}
