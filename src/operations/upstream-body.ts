import type { Dialect } from "../model-api/dialect.js";
import type { JsonRequest } from "../model-api/request/json-request.js";
import { addNameEdits } from "../openai/chat/request-edits.js";
import { editMembers, type MemberEdits, memberOf, splice } from "../wire/json-members.js";

/**
 * A request for the upstream that differs in nothing but the upstream's name for the model and what the dialect requires.
 * Everything else stays byte for byte.
 */
export function upstreamBody(
  { body, members }: Pick<JsonRequest, "body" | "members">,
  { model, dialect }: { readonly model: string; readonly dialect?: Dialect | undefined },
): Uint8Array {
  const name = JSON.stringify(model);
  const given = memberOf(members, "model");
  if (dialect === undefined && given !== undefined) return splice(body, given.start, given.end, name);
  const edits: MemberEdits = new Map([["model", name]]);
  if (dialect !== undefined) addNameEdits({ body, members }, dialect, edits);
  return editMembers(body, members, edits);
}
