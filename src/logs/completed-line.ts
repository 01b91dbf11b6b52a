import type { RequestCompleted } from "../events/request-completed.js";
import { imagesOf } from "../metering/usage-counts.js";

/** The fields of a request's line. Those that the request does not have are absent. */
export function completedLine(event: RequestCompleted): Record<string, unknown> {
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
