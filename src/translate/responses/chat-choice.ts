import { meaningOfEnd } from "../../model-api/answer/ends.js";
import { isRecord } from "../../wire/is-record.js";

/** Why an answer is not whole, by a chat completion's `finish_reason`; `undefined`: it is. */
export function incompleteReason(finish: string | undefined): string | undefined {
  const meaning = meaningOfEnd(finish);
  return meaning === "length" ? "max_output_tokens" : meaning === "content_filter" ? meaning : undefined;
}

/** The `logprobs` of a choice: both APIs have the same entries. */
export function toLogprobs(logprobs: unknown): unknown[] {
  if (!isRecord(logprobs) || !Array.isArray(logprobs["content"])) return [];
  return logprobs["content"];
}

/** An annotation of a chat message, one level flatter; `undefined` for one that is no citation of a page. */
export function toResponseAnnotation(annotation: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(annotation)) return undefined;
  const citation = annotation["url_citation"];
  if (annotation["type"] !== "url_citation" || !isRecord(citation)) return undefined;
  const { start_index: start = 0, end_index: end = 0, url = "", title = "" } = citation;
  return { type: "url_citation", start_index: start, end_index: end, url, title };
}
