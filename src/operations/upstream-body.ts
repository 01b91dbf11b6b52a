import type { Dialect } from "../model-api/dialect.js";
import type { JsonRequest } from "../model-api/request/json-request.js";
import { editMembers, type MemberEdits, memberOf, splice } from "../wire/json-members.js";

type Members = Pick<JsonRequest, "body" | "members">;

/**
 * A request for the upstream that differs in nothing but the upstream's name for the model and what the dialect requires.
 * Everything else stays byte for byte.
 */
export function upstreamBody(
  { body, members }: Members,
  { model, dialect }: { readonly model: string; readonly dialect?: Dialect | undefined },
): Uint8Array {
  const name = JSON.stringify(model);
  const given = memberOf(members, "model");
  if (dialect === undefined && given !== undefined) return splice(body, given.start, given.end, name);
  const edits: MemberEdits = new Map([["model", name]]);
  if (dialect !== undefined) addNameEdits({ body, members }, dialect, edits);
  return editMembers(body, members, edits);
}

/** Adds edits for members that the server calls by other names or refuses. They are the same for all endpoints. */
export function addNameEdits(request: Members, { renamed, dropped }: Dialect, edits: MemberEdits): void {
  if (renamed !== undefined) {
    for (const [name, newName] of Object.entries(renamed)) rename(request, name, newName, edits);
  }
  if (dropped !== undefined) for (const name of dropped) edits.set(name, null);
}

function rename(request: Members, name: string, newName: string, edits: MemberEdits): void {
  const member = request.members.find((candidate) => candidate.name === name);
  if (member === undefined) return;
  edits.set(name, null);
  if (request.members.some((candidate) => candidate.name === newName)) return;
  edits.set(newName, request.body.subarray(member.start, member.end));
}
