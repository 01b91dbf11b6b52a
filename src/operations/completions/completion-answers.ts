import { Buffer } from "node:buffer";
import { textWords } from "../../openai/chat/completion-words.js";
import { isRecord } from "../../wire/is-record.js";
import type { AnswerFormat, AnswerJson, ReadAnswer } from "../answers/answer-format.js";
import { answerTexts } from "../answers/answer-texts.js";
import { pickMembers } from "../answers/pick-members.js";

/** What a refused completion keeps. */
const kept = ["id", "created", "model", "system_fingerprint", "usage"];

/** `POST /v1/completions` */
export const completionAnswers: AnswerFormat = {
  readWhole,
  readStream(chunks) {
    const json: Record<string, unknown> = {};
    const choices = new Map<unknown, { index: unknown; text: string; finish_reason: unknown }>();
    for (const chunk of chunks) {
      Object.assign(json, pickMembers(chunk, kept));
      for (const { index = 0, text, finish_reason: reason } of choicesOf(chunk)) {
        const choice = choices.get(index) ?? { index, text: "", finish_reason: null };
        if (typeof text === "string") choice.text += text;
        if (typeof reason === "string") choice.finish_reason = reason;
        choices.set(index, choice);
      }
    }
    const inOrder = [...choices.values()].sort((one, other) => Number(one.index) - Number(other.index));
    return readWhole({ ...json, choices: inOrder });
  },
  addedBy: (chunk) =>
    choicesOf(chunk).flatMap(({ index, text }, at) =>
      answerTexts(text, `choices[${Number.isInteger(index) ? index : at}].text`),
    ),
  refused: (json, words) => ({
    object: textWords.whole,
    ...pickMembers(json, kept),
    choices: choicesOf(json).map(({ index }) => ({
      index,
      text: words,
      logprobs: null,
      finish_reason: "content_filter",
    })),
  }),
  toStream({ usage, choices, ...json }) {
    // The stream has usage only where its client asked for it.
    const chunks = [{ ...json, choices }, ...(usage === undefined ? [] : [{ ...json, choices: [], usage }])];
    return Buffer.from(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
  },
};

function readWhole(json: AnswerJson): ReadAnswer {
  const choices = choicesOf(json);
  return {
    texts: choices.flatMap(({ text }, at) => answerTexts(text, `choices[${at}].text`)),
    finishReasons: choices.flatMap(({ finish_reason: reason }) => (typeof reason === "string" ? [reason] : [])),
    json,
  };
}

function choicesOf({ choices }: AnswerJson): Record<string, unknown>[] {
  return Array.isArray(choices) ? choices.filter(isRecord) : [];
}
