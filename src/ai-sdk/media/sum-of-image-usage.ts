import { countAt } from "../../model-api/usage/usage-tally.js";
import { isRecord } from "../../wire/is-record.js";

/** Of one call, what the AI SDK says of tokens. */
interface CountedCall {
  readonly usage: unknown;
  /** Of each image: its share of the tokens that stand for texts and for images, where the server tells them apart. */
  readonly details: readonly Readonly<Record<string, unknown>>[];
}

/** OpenAI's `usage` of images, of the AI SDK's for each call. A half that one of them lacks is left out. */
export function sumOfImageUsage(calls: readonly CountedCall[]): object | undefined {
  const usages = calls.map(({ usage }) => (isRecord(usage) ? usage : {}));
  // No prompt and no image is without tokens: zero is no count.
  const [input, output] = ["inputTokens", "outputTokens"].map((name) =>
    sumOf(usages.map((each) => countAt(each, [[name]]) || undefined)),
  );
  if (input === undefined && output === undefined) return undefined;
  const details = calls.flatMap((each) => each.details);
  const [text, image] = ["textTokens", "imageTokens"].map((name) =>
    sumOf(details.map((each) => countAt(each, [[name]]))),
  );
  return {
    ...(input !== undefined && { input_tokens: input }),
    ...(output !== undefined && { output_tokens: output }),
    ...(input !== undefined && output !== undefined && { total_tokens: input + output }),
    ...(text !== undefined &&
      image !== undefined && { input_tokens_details: { text_tokens: text, image_tokens: image } }),
  };
}

/** @returns `undefined` unless all of them are counts. */
function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const count of counts) {
    if (count === undefined) return undefined;
    sum += count;
  }
  return counts.length > 0 ? sum : undefined;
}
