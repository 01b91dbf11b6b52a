import type { MessagesRequest } from "../../anthropic/messages/messages-request.js";
import type { ExchangeFacts, SealOfTarget } from "../operation.js";

/** What an exchange of the Messages API is made of. */
export interface MessagesExchangeParts extends ExchangeFacts {
  readonly request: MessagesRequest;
  /** The client's own that its upstream gets, too. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sealOf: SealOfTarget;
}
