import { type AnswerContext, bareCallId } from "../../model-api/answer/answer-context.js";

/** What an API calls its completions. */
export interface CompletionWords {
  /** The `object` of a whole one. */
  readonly whole: string;
  /** The `object` of a chunk. */
  readonly chunk: string;
  /** What ids begin with. */
  readonly idPrefix: string;
}

export const chatWords: CompletionWords = {
  whole: "chat.completion",
  chunk: "chat.completion.chunk",
  idPrefix: "chatcmpl-",
};

/** Of the older API, of plain texts. */
export const textWords: CompletionWords = { whole: "text_completion", chunk: "text_completion", idPrefix: "cmpl-" };

/** Keeps an id that begins as OpenAI's do; otherwise makes one. */
export function completionId(
  upstreamId: unknown,
  call: Pick<AnswerContext, "callId">,
  { idPrefix }: CompletionWords,
): string {
  if (typeof upstreamId !== "string" || upstreamId === "") return idPrefix + bareCallId(call);
  return upstreamId.startsWith(idPrefix) ? upstreamId : idPrefix + upstreamId;
}
