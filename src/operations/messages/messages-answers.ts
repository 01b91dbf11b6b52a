import { Buffer } from "node:buffer";
import { messageToEvents } from "../../anthropic/messages/message-to-events.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { isRecord } from "../../wire/is-record.js";
import type { AnswerFormat, AnswerJson, ReadAnswer } from "../answers/answer-format.js";
import { answerTexts } from "../answers/answer-texts.js";
import { frameNamedEvents } from "../answers/frame-named-events.js";
import { emptyMerged, type Merged, mergeDelta } from "../answers/merge-delta.js";
import { pickMembers } from "../answers/pick-members.js";

/** Members that newer versions of the API have in every message. */
const nullable = ["container", "diagnostics"];

/** `POST /v1/messages` */
export const messagesAnswers: AnswerFormat = {
  readWhole,
  readStream(events) {
    let json: AnswerJson = {};
    const blocks = new Map<unknown, Merged>();
    for (const event of events) {
      const { type, message, index, content_block: begun, delta } = event;
      if (type === "message_start" && isRecord(message)) json = message;
      if (type === "content_block_start" && isRecord(begun)) blockAt(blocks, index, begun);
      if (type === "content_block_delta" && isRecord(delta)) blockAt(blocks, index, withoutType(delta));
      if (type === "message_delta") json = ended(json, event);
    }
    const begun = Array.isArray(json["content"]) ? json["content"] : [];
    return readWhole({ ...json, content: [...begun, ...[...blocks.values()].map(withInput)] });
  },
  addedBy({ type, index, content_block: begun, delta }) {
    const path = `content[${Number.isInteger(index) ? index : 0}]`;
    if (isRecord(begun)) return answerTexts(begun, path);
    if (type !== "content_block_delta" || !isRecord(delta)) return [];
    const { partial_json: input, ...others } = withoutType(delta);
    return answerTexts(input === undefined ? others : { input }, path);
  },
  refused: (json, words) => ({
    ...pickMembers(json, ["id", "model"]),
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: words }],
    ...Object.fromEntries(nullable.filter((name) => json[name] !== undefined).map((name) => [name, null])),
    stop_reason: "refusal",
    stop_sequence: null,
    stop_details: { type: "refusal", category: null, explanation: words },
    ...pickMembers(json, ["usage"]),
  }),
  toStream(refused) {
    const received = new ReceivedAnswer(Buffer.from(JSON.stringify(refused)));
    return frameNamedEvents(messageToEvents(received) ?? []);
  },
};

function readWhole(json: AnswerJson): ReadAnswer {
  const { content, stop_reason: reason } = json;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return {
    texts: blocks.flatMap((block, at) => answerTexts(block, `content[${at}]`)),
    finishReasons: typeof reason === "string" ? [reason] : [],
    json,
  };
}

function blockAt(blocks: Map<unknown, Merged>, index: unknown, piece: AnswerJson): void {
  const block = blocks.get(index) ?? emptyMerged();
  blocks.set(index, block);
  mergeDelta(block, piece);
}

/** The type of a delta is not that of its block. */
function withoutType({ type: _, ...delta }: AnswerJson): AnswerJson {
  return delta;
}

/** The input of a tool comes as pieces of a JSON text. */
function withInput({ partial_json: input, ...block }: Merged): Merged {
  return typeof input === "string" && input !== "" ? { ...block, input: parsed(input) } : block;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function ended(json: AnswerJson, { delta, usage }: AnswerJson): AnswerJson {
  const earlier = isRecord(json["usage"]) ? json["usage"] : undefined;
  return {
    ...json,
    ...(isRecord(delta) ? delta : undefined),
    ...(isRecord(usage) ? { usage: { ...earlier, ...usage } } : undefined),
  };
}
