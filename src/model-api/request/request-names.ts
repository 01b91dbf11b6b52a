/** Members that give a model tools, and choose between them. */
export const toolMembers = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"] as const;

export const reasoningMembers = ["reasoning_effort", "reasoning"] as const;

/**
 * Every member of a request that the gateway reads or edits, for all endpoints. A dialect may add names: see
 * `requireOwnNames`.
 */
export const readMembers = [
  "model",
  "messages",
  "input",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "dimensions",
  "encoding_format",
  ...toolMembers,
  ...reasoningMembers,
] as const;

/** Every member of `stream_options` that the gateway reads or edits. */
export const readStreamOptions = ["include_usage"] as const;

/** Every member of a message that the gateway reads or edits, apart from those that a dialect removes. */
export const readMessageMembers = ["role", "content"] as const;

/** Every member of a content part that shows its kind and its cost. */
export const readPartMembers = [
  "type",
  "text",
  "content",
  "image_url",
  "input_image",
  "input_audio",
  "audio_url",
  "video_url",
  "file",
] as const;
