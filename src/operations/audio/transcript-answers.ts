import { Buffer } from "node:buffer";
import type { AnswerFormat, AnswerJson, ReadAnswer } from "../answers/answer-format.js";
import { answerTexts } from "../answers/answer-texts.js";
import { pickMembers } from "../answers/pick-members.js";

/** What a refused transcript keeps: what clients require of one. */
const kept = ["task", "language", "duration", "usage"];

/** Transcripts, whole and streamed. What is no JSON is its text. */
export const transcriptAnswers: AnswerFormat = {
  readWhole,
  readStream(events) {
    const done = events.findLast(({ type }) => type === "transcript.text.done");
    const deltas = events.flatMap(({ type, delta }) => (type === "transcript.text.delta" ? [String(delta)] : []));
    const { text = deltas.join(""), usage } = done ?? {};
    return readWhole({ text, ...(usage !== undefined && { usage }) });
  },
  addedBy: ({ type, delta }) => (type === "transcript.text.delta" ? answerTexts(delta, "text") : []),
  refused: (json, words) => ({
    ...pickMembers(json, kept),
    text: words,
    ...(json["segments"] !== undefined && { segments: [] }),
  }),
  toStream({ text, usage }) {
    const events = [
      { type: "transcript.text.delta", delta: text },
      { type: "transcript.text.done", text, usage },
    ];
    return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  },
};

function readWhole(json: AnswerJson): ReadAnswer {
  return { texts: answerTexts(json["text"], "text"), finishReasons: [], json };
}
