import type { OperationName } from "../../../../src/prices/operation-name.js";
import type { Price } from "../../../../src/prices/price.js";
import { operations } from "../../../../src/protocols/operations.js";
import { eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { textChunks, textCompletion } from "../../../support/completion-samples.js";
import { pricesOf, streamedOperations } from "./any-operation.js";

const names = [
  ...(["completions", "moderations", "rerank", "images/generations", "images/edits"] as const),
  ...(["audio/speech", "audio/transcriptions", "audio/translations"] as const),
];

/** What a server may say of what it has used, in all words at once. */
export function usageOf(value: unknown): Record<string, unknown> {
  const counts = ["input_tokens", "output_tokens", "prompt_tokens", "completion_tokens", "total_tokens", "seconds"];
  const details = { text_tokens: value, image_tokens: value, audio_tokens: value, cached_tokens: value };
  return {
    ...Object.fromEntries(counts.map((name) => [name, value])),
    ...{ input_tokens_details: details, input_token_details: details, output_tokens_details: details },
  };
}

export function answerOf(name: OperationName, stream: boolean, usage: unknown): FakeAnswer {
  const events = (list: readonly object[]) => eventStream(list, { done: false });
  switch (name) {
    case "completions":
      return stream
        ? eventStream(textChunks(["Hi"], usage as null))
        : wholeAnswer(textCompletion(["Hi"], usage as null));
    case "moderations":
      return wholeAnswer({ results: [{ flagged: false, categories: {}, category_scores: {} }], usage });
    case "rerank": {
      const units = (usage as { seconds?: unknown } | undefined)?.seconds;
      return wholeAnswer({
        results: [{ index: 0, relevance_score: 1 }],
        usage,
        meta: { billed_units: { search_units: units } },
      });
    }
    case "images/generations":
    case "images/edits": {
      const type = name === "images/edits" ? "image_edit.completed" : "image_generation.completed";
      const made = { quality: "high", size: "1024x1024", usage };
      return stream
        ? events([{ type, b64_json: "YQ==", ...made }])
        : wholeAnswer({ data: [{ b64_json: "YQ==" }], ...made });
    }
    case "audio/speech":
      return events([
        { type: "speech.audio.delta", audio: "AAAA" },
        { type: "speech.audio.done", usage },
      ]);
    default:
      return stream
        ? events([
            { type: "transcript.text.delta", delta: "Hi" },
            { type: "transcript.text.done", text: "Hi", usage },
          ])
        : wholeAnswer({ text: "Hi", usage });
  }
}

/** Every kind of price, and one for all that an operation counts. */
function allPrices(name: OperationName): readonly Price[] {
  const terms = operations.find((each) => each.name === name)?.priced.known ?? [];
  const rows = [{ quality: "high", credits: 0.017 }, { size: "512x512", credits: 0.013 }, { credits: 0.019 }];
  // What changes these prices is no price itself.
  const amounts = terms.filter((term) => term !== "steps" && term !== "tiers");
  const all = Object.fromEntries(amounts.map((term, place) => [term, term === "images" ? rows : 0.37 + place / 1000]));
  return [...pricesOf(name), all];
}

/** Operations that are not of chat, whole and streamed, with their prices. */
export const mediaCalls = names.flatMap((name) =>
  [false, true]
    .filter((stream) => (stream ? streamedOperations.has(name) : name !== "audio/speech"))
    .flatMap((stream) => allPrices(name).map((price): [OperationName, boolean, Price] => [name, stream, price])),
);
