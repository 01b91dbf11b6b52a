import type { ResponsesRequest } from "../openai/responses/responses-request.js";
import type { KeptConversation } from "./kept-conversation.js";
import type { AttemptFacts, ModelTraits, TargetTraits } from "./operation.js";

/** What an exchange of the Responses API is made of. */
export interface ResponsesExchangeParts {
  /** With all that it refers to in its place. */
  readonly request: ResponsesRequest;
  readonly conversation: KeptConversation;
  readonly target: TargetTraits;
  readonly model: ModelTraits;
  readonly attempt: AttemptFacts;
}

/** The gateway's own: ids of an upstream are shared by all accounts behind one of its keys. */
export function responseIdOf({ requestId }: AttemptFacts): string {
  return `resp_${requestId.slice(requestId.indexOf("_") + 1).replaceAll("-", "")}`;
}
