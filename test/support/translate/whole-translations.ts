import type { TokenCounts } from "../../../src/prices/usage-counts.js";
import type { ChatRequest } from "../../../src/protocols/chat/chat-request.js";
import type { MessagesRequest } from "../../../src/protocols/messages/messages-request.js";
import type { ResponsesRequest } from "../../../src/protocols/responses/responses-request.js";
import { messageOfChatSteps } from "../../../src/protocols/translate/chat-to-message.js";
import {
  type MessagesTargetOptions,
  messagesRequestSteps,
} from "../../../src/protocols/translate/chat-to-messages-request.js";
import type { MessageHead, MessageTranslation } from "../../../src/protocols/translate/message-translation.js";
import {
  type ChatTargetOptions,
  chatRequestOfMessagesSteps,
} from "../../../src/protocols/translate/messages-to-chat-request.js";
import {
  type ChatTranslation,
  chatRequestOfResponsesSteps,
  type ToChatOptions,
} from "../../../src/protocols/translate/responses-to-chat-request.js";
import { atOnce } from "../../../src/wire/slices.js";

/** The translations, each done in one go. */
export function chatToMessagesRequest(request: ChatRequest, options: MessagesTargetOptions): Uint8Array {
  return atOnce(messagesRequestSteps(request, options));
}

export function messagesToChatRequest(request: MessagesRequest, options: ChatTargetOptions) {
  return atOnce(chatRequestOfMessagesSteps(request, options));
}

export function toChatRequest(request: ResponsesRequest, options: ToChatOptions): ChatTranslation {
  return atOnce(chatRequestOfResponsesSteps(request, options));
}

export function chatToMessage(
  completion: Record<string, unknown>,
  head: MessageHead,
  translation: MessageTranslation,
  usage: TokenCounts,
): string {
  return atOnce(messageOfChatSteps(completion, head, translation, { usage })).toString();
}
