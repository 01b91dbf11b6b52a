import { isRecord } from "../../wire/is-record.js";

/** Of one call, what the AI SDK says of tokens. */
interface CountedCall {
  readonly usage: unknown;
  /** Of each image: its share of the tokens that stand for texts and for images, where the server tells them apart. */
  readonly details: readonly Readonly<Record<string, unknown>>[];
}

/** OpenAI's `usage` of images, of the AI SDK's for each call. @returns `undefined` unless all of them report theirs. */
export function sumOfImageUsage(calls: readonly CountedCall[]): object | undefined {
  let input = 0;
  let output = 0;
  for (const { usage } of calls) {
    const { inputTokens, outputTokens } = isRecord(usage) ? usage : {};
    if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
    input += inputTokens;
    output += outputTokens;
  }
  const details = calls.flatMap((each) => each.details);
  const [text, image] = ["textTokens", "imageTokens"].map((name) => sumOf(details.map((each) => each[name])));
  return {
    ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
    ...(text !== undefined &&
      image !== undefined && { input_tokens_details: { text_tokens: text, image_tokens: image } }),
  };
}

/** @returns `undefined` unless all of them are numbers. */
function sumOf(counts: readonly unknown[]): number | undefined {
  let sum = 0;
  for (const count of counts) {
    if (typeof count !== "number") return undefined;
    sum += count;
  }
  return counts.length > 0 ? sum : undefined;
}
