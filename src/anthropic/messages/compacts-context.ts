import { asBuffer } from "../../wire/as-buffer.js";
import { isRecord } from "../../wire/is-record.js";
import { memberOf } from "../../wire/json-members.js";
import type { MessagesRequest } from "./messages-request.js";

/**
 * Whether a request has its server sum up the conversation first, where that is long (Anthropic reference,
 * "Compaction"). It takes a call of the model of its own, which reads all and writes under the same cap.
 */
export function compactsContext({ body, members }: Pick<MessagesRequest, "body" | "members">): boolean {
  const member = memberOf(members, "context_management");
  if (member === undefined) return false;
  const management: unknown = JSON.parse(asBuffer(body).toString("utf8", member.start, member.end));
  if (!isRecord(management) || !Array.isArray(management["edits"])) return false;
  return management["edits"].some((edit) => isRecord(edit) && String(edit["type"]).startsWith("compact"));
}
