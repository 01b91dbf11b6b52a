import { isRecord } from "../../wire/is-record.js";

/** OpenAI's `usage` of images, of the AI SDK's for each call. @returns `undefined` unless all of them report theirs. */
export function sumOfImageUsage(usages: readonly unknown[]): object | undefined {
  let input = 0;
  let output = 0;
  for (const usage of usages) {
    const { inputTokens, outputTokens } = isRecord(usage) ? usage : {};
    if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
    input += inputTokens;
    output += outputTokens;
  }
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}
