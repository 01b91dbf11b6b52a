import { isRecord } from "../../wire/is-record.js";
import { finishReasonOf, messageIdOf } from "../messages/message-response.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { requireFewParts } from "../shared/response-bounds.js";
import { toChatUsage } from "../shared/usage-object.js";
import { readReport } from "../shared/usage-tally.js";
import { rawParts } from "./request-elements.js";

/** What a chat completion has that a message has not. */
export interface CompletionHead {
  /** Epoch seconds. */
  readonly created: number;
  /** The model as the client named it. */
  readonly model: string;
}

/**
 * A whole message as a chat completion. Blocks of tools that the server has run itself are left out. It has an id, and
 * usage, only where the message has.
 * @returns `undefined` when it is no message.
 */
export function messageToChat(received: ReceivedResponse, head: CompletionHead): Record<string, unknown> | undefined {
  const said = received.json;
  if (!isRecord(said) || said["type"] !== "message" || !Array.isArray(said["content"])) return undefined;
  const blocks: unknown[] = said["content"];
  requireFewParts(blocks, () => readReport(said["usage"], true)?.tokens);
  const inputs = blocks.some(isToolUse) ? rawParts(received.bytes, 0, "input") : [];
  const message = toChatMessage(blocks, inputs);
  const usage = readReport(said["usage"], true)?.tokens;
  const id = messageIdOf(said);
  return {
    ...(id === undefined ? undefined : { id: `chatcmpl-${id}` }),
    object: "chat.completion",
    created: head.created,
    model: head.model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: finishReasonOf(said["stop_reason"], message["tool_calls"] !== undefined),
      },
    ],
    ...(usage === undefined ? undefined : { usage: toChatUsage(usage) }),
  };
}

function toChatMessage(blocks: readonly unknown[], inputs: readonly (string | undefined)[]): Record<string, unknown> {
  let text = "";
  let reasoning = "";
  const details: Record<string, unknown>[] = [];
  const calls: Record<string, unknown>[] = [];
  for (const [place, block] of blocks.entries()) {
    if (!isRecord(block)) continue;
    const { type, id, name } = block;
    if (type === "text") text += textIn(block, "text");
    else if (type === "thinking") {
      reasoning += textIn(block, "thinking");
      details.push(thinkingDetail(details.length, textIn(block, "thinking"), textIn(block, "signature")));
    } else if (type === "redacted_thinking") {
      details.push({ type: "reasoning.encrypted", index: details.length, data: textIn(block, "data") });
    } else if (type === "tool_use") {
      calls.push({ id, type: "function", function: { name, arguments: inputs[place] ?? "{}" } });
    }
  }
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning === "" ? undefined : { reasoning_content: reasoning }),
    ...(details.length === 0 ? undefined : { reasoning_details: details }),
    ...(calls.length === 0 ? undefined : { tool_calls: calls }),
  };
}

/** Thinking with its signature: a client that sends it back lets the model go on with it. */
export function thinkingDetail(index: number, text: string, signature: string): Record<string, unknown> {
  return { type: "reasoning.text", index, text, ...(signature === "" ? undefined : { signature }) };
}

function isToolUse(block: unknown): boolean {
  return isRecord(block) && block["type"] === "tool_use";
}

function textIn(block: Record<string, unknown>, name: string): string {
  const text = block[name];
  return typeof text === "string" ? text : "";
}
