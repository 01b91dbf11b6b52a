import type { Buffer } from "node:buffer";
import type { TokenCounts } from "../../prices/usage-counts.js";
import { jsonSteps } from "../../wire/json-steps.js";
import type { Steps } from "../../wire/slices.js";
import { responseToChunk } from "../chat/chat-response.js";
import { explicitNulls, toMessagesUsage } from "../messages/message-response.js";
import type { BlockEvent } from "./block-ladder.js";
import { ChatDeltaReader } from "./chat-delta-reader.js";
import type { MessageHead, MessageTranslation } from "./message-translation.js";
import { toolInputSteps } from "./tool-ids.js";

/**
 * A whole chat completion as a message: what a client of Messages would make of the stream of the same answer. The inputs
 * of tools stay as the model has written them.
 *
 * @param completion - its first choice counts.
 * @throws StreamFault when it cannot be one.
 */
export function* messageOfChatSteps(
  completion: Record<string, unknown>,
  { messageId, model, version }: MessageHead,
  translation: MessageTranslation,
  { usage, expectedBytes }: { readonly usage: TokenCounts; readonly expectedBytes?: number },
): Steps<Buffer> {
  const reader = new ChatDeltaReader(translation, messageId.replace(/^msg_/, ""));
  const events = [...reader.read(responseToChunk(completion)), ...reader.finish()];
  // An answer of nothing has no blocks, as Anthropic's own.
  const content = yield* blocksOf(events);
  const nulls = explicitNulls(version);
  const message = {
    ...{ id: messageId, type: "message", role: "assistant", model },
    content,
    ...nulls.message,
    ...reader.stop,
    usage: { ...nulls.usage, ...toMessagesUsage(usage) },
  };
  return yield* jsonSteps(message, expectedBytes);
}

/** The blocks that the events amount to. */
function* blocksOf(events: readonly BlockEvent[]): Steps<unknown[]> {
  const blocks: unknown[] = [];
  let block: Record<string, unknown> = {};
  let input = "";
  for (const { type, content_block: begun, delta = {} } of events) {
    if (type === "content_block_start") {
      block = { ...begun };
      input = "";
    } else if (type === "content_block_stop") {
      blocks.push(block["type"] === "tool_use" ? { ...block, input: yield* toolInputSteps(input) } : block);
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
