import { GatewayError } from "../../errors/gateway-error.js";
import { memberOf } from "../../wire/json-members.js";
import { messagesTable } from "../messages-table.js";
import type { MessagesRequest } from "./messages-request.js";

/**
 * Refuses a thread: its conversation would be the server's, shared by all accounts behind one key, and the prompt would
 * not be in the request. The code is that of Anthropic's own refusal: the tool runners of its SDKs then repeat the request
 * at once with the whole conversation, and without a thread from then on.
 * @throws GatewayError 400
 */
export function refuseThread({ body, members }: Pick<MessagesRequest, "body" | "members">): void {
  const thread = memberOf(members, "thread");
  if (thread === undefined || body[thread.start] === 0x6e) return;
  const { why, advice } = messagesTable.find("member", "thread") ?? {};
  throw new GatewayError(`'thread' cannot be set here: it ${why}. ${advice}`, {
    status: 400,
    code: "unsupported_parameter",
    param: "thread",
    details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
  });
}
