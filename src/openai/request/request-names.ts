/** What asks a model for tools, and says which. */
export const toolMembers = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"] as const;

export const reasoningMembers = ["reasoning_effort", "reasoning"] as const;

/**
 * Every member of a request that the gateway reads or edits, whatever the endpoint. What a server's dialect renames or
 * leaves out comes on top: see `requireOwnNames`.
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

/** Every member of a message that the gateway reads or edits, but for those that a dialect leaves out. */
export const readMessageMembers = ["role", "content"] as const;

/** Every member of a content part by which the gateway tells what it is and what it costs. */
export const readPartMembers = [
  "type",
  "text",
  "image_url",
  "input_image",
  "input_audio",
  "audio_url",
  "video_url",
  "file",
] as const;
