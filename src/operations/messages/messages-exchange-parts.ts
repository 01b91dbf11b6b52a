import type { MessagesRequest } from "../../anthropic/messages/messages-request.js";
import type { ExchangeFacts, SealOfTarget } from "../operation.js";

/** Members of this API that mean something else to chat completions, or that are checked apart. */
export const messagesMembers: ReadonlySet<string> = new Set(["tools", "cache_control", "thinking"]);

/** What an exchange of the Messages API is made of. */
export interface MessagesExchangeParts extends ExchangeFacts {
  readonly request: MessagesRequest;
  /** The client's own that its upstream gets, too. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sealOf: SealOfTarget;
}
