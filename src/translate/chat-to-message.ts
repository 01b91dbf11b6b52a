import { explicitNulls } from "../anthropic/explicit-nulls.js";
import { toMessagesUsage } from "../anthropic/usage.js";
import type { TokenCounts } from "../metering/token-counts.js";
import { answerToChunk } from "../openai/chat/answer-to-chunk.js";
import type { BlockEvent } from "./messages/block-items.js";
import { ChatDeltaReader } from "./messages/chat-delta-reader.js";
import type { MessageHead, MessageTranslation } from "./messages/message-translation.js";
import { toolInput } from "./messages/tool-input.js";

/**
 * A whole chat completion as a message: what a client of Messages would make of the stream of the same answer. The inputs
 * of tools stay as the model has written them.
 *
 * @param completion - its first choice counts.
 * @throws StreamFault when it cannot be one.
 */
export function chatToMessage(
  completion: Record<string, unknown>,
  { messageId, model, version }: MessageHead,
  translation: MessageTranslation,
  usage: TokenCounts,
): string {
  const reader = new ChatDeltaReader(translation, messageId.replace(/^msg_/, ""));
  const events = [...reader.read(answerToChunk(completion)), ...reader.finish()];
  // An answer of nothing has no blocks, as Anthropic's own.
  const content = blocksOf(events);
  const nulls = explicitNulls(version);
  const head = JSON.stringify({ id: messageId, type: "message", role: "assistant", model });
  const tail = JSON.stringify({
    ...nulls.message,
    ...reader.stop,
    usage: { ...nulls.usage, ...toMessagesUsage(usage) },
  });
  return `${head.slice(0, -1)},"content":[${content.join(",")}],${tail.slice(1)}`;
}

/** The blocks that the events amount to, as JSON. */
function blocksOf(events: readonly BlockEvent[]): string[] {
  const blocks: string[] = [];
  let block: Record<string, unknown> = {};
  let input = "";
  for (const { type, content_block: begun, delta = {} } of events) {
    if (type === "content_block_start") {
      block = { ...begun };
      input = "";
    } else if (type === "content_block_stop") {
      blocks.push(block["type"] === "tool_use" ? withInput(block, input) : JSON.stringify(block));
    } else if (delta["type"] === "input_json_delta") {
      input += delta["partial_json"];
    } else {
      for (const name of ["text", "thinking", "signature"]) {
        if (typeof delta[name] === "string") block[name] = `${block[name]}${delta[name]}`;
      }
    }
  }
  return blocks;
}

function withInput({ input: _, ...block }: Record<string, unknown>, text: string): string {
  return `${JSON.stringify(block).slice(0, -1)},"input":${toolInput(text)}}`;
}
