import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";
import type { AnswerFormat, AnswerJson, ReadAnswer } from "../answers/answer-format.js";
import { answerTexts } from "../answers/answer-texts.js";
import { emptyMerged, type Merged, mergeDelta } from "../answers/merge-delta.js";
import { pickMembers } from "../answers/pick-members.js";

/** What a refused completion keeps. */
const kept = ["id", "created", "model", "service_tier", "system_fingerprint", "usage"];

/** `POST /v1/chat/completions` */
export const chatAnswers: AnswerFormat = {
  readWhole,
  readStream(chunks) {
    const json: Record<string, unknown> = {};
    const choices: Merged[] = [];
    for (const chunk of chunks) {
      Object.assign(json, pickMembers(chunk, kept));
      for (const choice of choicesOf(chunk)) addChoice(choices, choice);
    }
    choices.sort((one, other) => Number(one["index"]) - Number(other["index"]));
    return readWhole({ ...json, choices });
  },
  addedBy: (chunk) =>
    choicesOf(chunk).flatMap(({ index, delta }, at) => {
      const path = `choices[${place(index, at)}].message`;
      const { tool_calls: calls, ...others } = isRecord(delta) ? delta : {};
      const called = Array.isArray(calls) ? calls.filter(isRecord) : [];
      return [
        ...answerTexts(others, path),
        ...called.flatMap((call, at) => answerTexts(call, `${path}.tool_calls[${place(call["index"], at)}]`)),
      ];
    }),
  refused: (json, words) => ({
    object: "chat.completion",
    ...pickMembers(json, kept),
    choices: choicesOf(json).map(({ index }) => ({
      index,
      message: { role: "assistant", content: null, refusal: words },
      logprobs: null,
      finish_reason: "content_filter",
    })),
  }),
  toStream({ usage, choices, ...json }) {
    const head = { ...json, object: "chat.completion.chunk" };
    const refused = choicesOf({ choices }).map(({ message, ...rest }) => ({
      ...rest,
      delta: { ...(isRecord(message) ? message : undefined), content: "" },
    }));
    // The stream has usage only where its client asked for it.
    const chunks = [{ ...head, choices: refused }, ...(usage === undefined ? [] : [{ ...head, choices: [], usage }])];
    return Buffer.from(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
  },
};

function readWhole(json: AnswerJson): ReadAnswer {
  const choices = choicesOf(json);
  return {
    texts: choices.flatMap(({ message }, at) => answerTexts(message, `choices[${at}].message`)),
    finishReasons: choices.flatMap(({ finish_reason: reason }) => (typeof reason === "string" ? [reason] : [])),
    json,
  };
}

/** Some servers leave it out. */
function place(index: unknown, otherwise: number): number {
  return typeof index === "number" ? index : otherwise;
}

function choicesOf({ choices }: AnswerJson): Record<string, unknown>[] {
  return Array.isArray(choices) ? choices.filter(isRecord) : [];
}

function addChoice(choices: Merged[], { index = 0, delta, finish_reason: reason }: AnswerJson): void {
  let choice = choices.findLast((one) => one["index"] === index);
  if (choice === undefined) {
    choice = { index, message: emptyMerged(), finish_reason: null };
    choices.push(choice);
  }
  if (isRecord(delta)) mergeDelta(choice["message"] as Merged, delta);
  if (typeof reason === "string") choice["finish_reason"] = reason;
}
