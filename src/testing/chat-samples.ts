/** Token counts as OpenAI reports them. */
export interface SampleUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number };
}

/** The members of a sample response; all have defaults. */
export interface ChatSample {
  id?: string;
  created?: number;
  model?: string;
  content?: string | null;
  finishReason?: string | null;
  /** As in the answer's `message.tool_calls`. */
  toolCalls?: unknown[];
  /** Default: 9 + 3 tokens. `null`: the answer has no `usage`. */
  usage?: SampleUsage | null;
  /** Further members of the answer or, in a stream, of every chunk. */
  extra?: Record<string, unknown>;
}

/** The usage of every sample that does not bring its own. */
export const sampleUsage: SampleUsage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

const sampleId = "chatcmpl-sample";
const sampleCreated = 1_700_000_000;
const sampleModel = "sample-model";

/** A whole `chat.completion`, as an object. */
export function chatAnswer(sample: ChatSample = {}) {
  const usage = sample.usage === undefined ? sampleUsage : sample.usage;
  const message = {
    role: "assistant",
    content: sample.content === undefined ? "Hello world" : sample.content,
    refusal: null,
    ...(sample.toolCalls ? { tool_calls: sample.toolCalls } : {}),
  };
  const finishReason = sample.finishReason ?? (sample.toolCalls ? "tool_calls" : "stop");
  return {
    id: sample.id ?? sampleId,
    object: "chat.completion",
    created: sample.created ?? sampleCreated,
    model: sample.model ?? sampleModel,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(usage ? { usage } : {}),
    ...sample.extra,
  };
}

/** How a streamed sample is cut up. */
export interface ChatChunksSample extends Omit<ChatSample, "content" | "toolCalls"> {
  /** Characters of text per chunk. Default: one chunk per word. */
  pieceLength?: number;
  /** Further `delta` objects between the text and the finish, such as parts of tool calls. */
  deltas?: Record<string, unknown>[];
}

/**
 * The chunks of a streamed answer, as objects: the role, the text in pieces, the finish and, unless `usage` is
 * `null`, the chunk with the usage and no choices that OpenAI sends when `stream_options.include_usage` is set.
 * `finishReason: null` leaves the finish out, as a broken stream does.
 */
export function chatChunks(text = "Hello world", sample: ChatChunksSample = {}): Record<string, unknown>[] {
  const usage = sample.usage === undefined ? sampleUsage : sample.usage;
  const head = {
    id: sample.id ?? sampleId,
    object: "chat.completion.chunk",
    created: sample.created ?? sampleCreated,
    model: sample.model ?? sampleModel,
  };
  const chunk = (delta: Record<string, unknown>, finishReason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...sample.extra,
  });
  const pieces = sample.pieceLength
    ? (text.match(new RegExp(`[^]{1,${sample.pieceLength}}`, "gu")) ?? [])
    : (text.match(/\s*\S+\s*$|\s*\S+/gu) ?? []);
  const chunks: Record<string, unknown>[] = [
    chunk({ role: "assistant", content: "", refusal: null }),
    ...pieces.map((piece) => chunk({ content: piece })),
    ...(sample.deltas ?? []).map((delta) => chunk(delta)),
  ];
  if (sample.finishReason !== null) {
    chunks.push(chunk({}, sample.finishReason ?? "stop"));
  }
  if (usage) {
    chunks.push({ ...head, choices: [], usage, ...sample.extra });
  }
  return chunks;
}

/** An error body as OpenAI sends it. */
export function errorBody(
  message: string,
  fields: { type?: string; param?: string | null; code?: string | null } = {},
) {
  return {
    error: {
      message,
      type: fields.type ?? "invalid_request_error",
      param: fields.param ?? null,
      code: fields.code ?? null,
    },
  };
}
