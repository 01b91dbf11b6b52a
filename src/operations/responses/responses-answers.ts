import { ownItemId } from "../../openai/responses/item-ids.js";
import { responseToEvents } from "../../openai/responses/native/response-to-events.js";
import { isRecord } from "../../wire/is-record.js";
import type { AnswerFormat, AnswerJson, AnswerText, ReadAnswer } from "../answers/answer-format.js";
import { answerTexts } from "../answers/answer-texts.js";
import { frameNamedEvents } from "../answers/frame-named-events.js";
import { StreamedItemTexts } from "../answers/streamed-item-texts.js";

/** What a refused response keeps: what it repeats of its request, and what it counts. */
const kept = [
  ...["id", "created_at", "model", "previous_response_id", "store", "usage", "background", "truncation"],
  ...["service_tier", "instructions", "metadata", "parallel_tool_calls", "temperature", "tool_choice", "tools"],
  ...["top_p", "top_logprobs", "max_output_tokens", "max_tool_calls", "prompt_cache_key", "safety_identifier"],
  ...["reasoning", "text", "user"],
];

/** `POST /v1/responses` */
export const responsesAnswers: AnswerFormat = {
  readWhole: (json) => toReadAnswer(json, outputTexts(json)),
  readStream(events) {
    let json: AnswerJson = {};
    const found = new StreamedItemTexts();
    for (const event of events) {
      if (isRecord(event["response"])) {
        json = event["response"];
        found.add(outputTexts(json));
      }
      found.read(event);
    }
    return toReadAnswer(json, found.texts());
  },
  addedBy(event) {
    const { type, delta, item, output_index: index } = event;
    if (delta !== undefined) {
      const found = new StreamedItemTexts();
      found.read(event);
      return found.texts();
    }
    // All else repeats as a whole what deltas bring, but for the name of a tool.
    const isBegun = type === "response.output_item.added" && isRecord(item) && typeof item["name"] === "string";
    return isBegun ? answerTexts({ name: item["name"] }, `output[${Number(index)}]`) : [];
  },
  refused(json, words) {
    const own: Record<string, unknown> = {};
    for (const name of kept) if (json[name] !== undefined) own[name] = json[name];
    const id = ownItemId("msg", String(json["id"]), 0);
    const content = [{ type: "refusal", refusal: words }];
    return {
      ...own,
      object: "response",
      status: "incomplete",
      completed_at: null,
      error: null,
      incomplete_details: { reason: "content_filter" },
      output: [{ id, type: "message", status: "incomplete", role: "assistant", content }],
    };
  },
  toStream: (refused) => frameNamedEvents(responseToEvents(refused)),
};

function outputTexts({ output }: AnswerJson): AnswerText[] {
  return Array.isArray(output) ? output.flatMap((item, at) => answerTexts(item, `output[${at}]`)) : [];
}

function toReadAnswer(json: AnswerJson, texts: readonly AnswerText[]): ReadAnswer {
  const { status, incomplete_details: details } = json;
  const reason = (isRecord(details) ? details["reason"] : undefined) ?? status;
  return { texts, finishReasons: typeof reason === "string" ? [reason] : [], json };
}
