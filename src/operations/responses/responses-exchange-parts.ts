import type { Dialect } from "../../model-api/dialect.js";
import { lackingMembers } from "../../openai/responses/responses-capabilities.js";
import type { ResponsesRequest } from "../../openai/responses/responses-request.js";
import type { ExchangeFacts, ModelTraits, SealOfTarget } from "../operation.js";
import type { KeptConversation } from "./kept-conversation.js";

/** What an exchange of the Responses API is made of. */
export interface ResponsesExchangeParts extends ExchangeFacts {
  /** With all that it refers to in its place. */
  readonly request: ResponsesRequest;
  readonly conversation: KeptConversation;
  readonly sealOf: SealOfTarget;
}

/** What of the request a model's server must not be sent. */
export function droppedMembers({ lacking }: ModelTraits, dialect: Dialect | undefined): readonly string[] | undefined {
  const refused = dialect?.dropped;
  if (lacking?.action !== "drop") return refused;
  return [...(refused ?? []), ...lackingMembers(lacking)];
}
