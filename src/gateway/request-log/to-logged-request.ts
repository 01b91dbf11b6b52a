import type { RequestCompleted, UpstreamAttempt } from "../../events/request-completed.js";
import type { LoggedAttempt, LoggedRequest } from "../../request-log/request-log.js";

const longestText = 256;
const mostAttempts = 8;

/** Stores refuse some of these, or take two texts for one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about control characters
const unstorable = /[\u0000-\u001f\u007f-\u009f]/g;

/** The line of a request. It shares nothing with the event, which is the host's to write into. */
export function toLoggedRequest(event: RequestCompleted, lineId: string): LoggedRequest {
  const { callId, endpoint, source, keyId, account, plan, model, errorCode, endReason, disconnect } = event;
  const { responseId, finishReason, tags, attempts, usageSource, funding, prepaidMicro, durations } = event;
  const last = attempts.at(-1);
  return {
    lineId,
    requestId: short(event.requestId),
    ...(callId !== undefined && { callId: short(callId) }),
    startedAt: Math.floor(event.startedAt),
    ...(endpoint !== undefined && { endpoint }),
    ...(source !== undefined && { source }),
    ...(keyId !== undefined && { keyId: short(keyId) }),
    ...(account !== undefined && { account: short(account) }),
    ...(plan !== undefined && { plan: short(plan) }),
    ...(model !== undefined && { model: short(model) }),
    ...(event.requestedModel !== undefined && { requestedModel: short(event.requestedModel) }),
    ...(last !== undefined && { target: short(`${last.provider}/${last.model}`) }),
    stream: event.stream,
    status: event.status,
    ...(errorCode !== undefined && { errorCode: short(errorCode) }),
    ...(endReason !== undefined && { endReason }),
    ...(disconnect !== undefined && { disconnect }),
    ...(responseId !== undefined && { responseId: short(responseId) }),
    ...(finishReason !== undefined && { finishReason: short(finishReason) }),
    ...(tags !== undefined && { tags: { ...tags } }),
    attempts: attempts.slice(-mostAttempts).map(toAttempt),
    tokens: { ...event.tokens },
    ...(usageSource !== undefined && { usageSource }),
    chargedMicro: event.chargedMicro,
    ...(funding !== undefined && { funding }),
    ...(prepaidMicro !== undefined && { prepaidMicro }),
    ...(event.costMicro !== undefined && { costMicro: event.costMicro }),
    durations: {
      total: tenths(durations.total),
      ...(durations.firstByte !== undefined && { firstByte: tenths(durations.firstByte) }),
    },
  };
}

/** Without the error: an upstream may repeat a prompt in it. */
function toAttempt({ provider, model, status, outcome, upstreamRequestId, ...times }: UpstreamAttempt): LoggedAttempt {
  return {
    provider: short(provider),
    model: short(model),
    ...(status !== undefined && { status }),
    outcome,
    startedMs: tenths(times.startedMs),
    durationMs: tenths(times.durationMs),
    ...(upstreamRequestId !== undefined && { upstreamRequestId: short(upstreamRequestId) }),
  };
}

function short(text: string): string {
  const begin = text.length > longestText ? text.slice(0, longestText) : text;
  return begin.toWellFormed().replace(unstorable, "\ufffd");
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** What a line takes in memory, about: its names and numbers, and two bytes for each character of what may be long. */
export function lineBytes({ attempts, tags, texts }: LoggedRequest): number {
  let characters = (texts?.request?.length ?? 0) + (texts?.answer?.length ?? 0);
  for (const name in tags) characters += name.length + (tags[name]?.length ?? 0);
  return 1_024 + attempts.length * 256 + 2 * characters;
}
