import { firstImage, type Lacking, unsupportedByModel } from "../../model-api/prompt/lacking.js";
import { isText } from "../../model-api/prompt/message-outline.js";
import { reasoningMembers, toolMembers } from "../../model-api/request/request-names.js";
import { findTwins } from "../../wire/folded-names.js";
import { type JsonMember, type MemberEdits, memberOf, membersOf, skipSpace } from "../../wire/json-members.js";
import type { ChatRequest } from "./chat-request.js";

/** @throws GatewayError 400 when the request asks for something that the model cannot do, and `action` is `refuse`. */
export function refuseLacking(request: ChatRequest, model: string, lacking: Lacking): void {
  if (lacking.action !== "refuse") return;
  if (lacking.tools) {
    for (const name of ["tools", "functions"])
      if (asksFor(request, name)) throw unsupportedByModel(model, name, "tools");
  }
  if (lacking.reasoning) {
    for (const name of reasoningMembers) if (asksFor(request, name)) throw unsupportedByModel(model, name, "reasoning");
  }
  if (!lacking.vision) return;
  const image = firstImage(request);
  if (image !== undefined) throw unsupportedByModel(model, image, "images");
}

export function asksToReason(request: ChatRequest): boolean {
  return reasoningMembers.some((name) => asksFor(request, name));
}

/** Adds edits that remove what the model cannot do. Images are removed by `editMessages`. */
export function addLackingEdits({ tools, reasoning }: Lacking, edits: MemberEdits): void {
  if (tools) for (const name of toolMembers) edits.set(name, null);
  if (reasoning) for (const name of reasoningMembers) edits.set(name, null);
}

function asksFor({ body, members }: ChatRequest, name: string): boolean {
  const member = memberOf(members, name);
  if (member === undefined || body[member.start] === 0x6e) return false;
  if (body[member.start] === 0x5b) return body[skipSpace(body, member.start + 1)] !== 0x5d;
  return !isText(body, member, "none") && !(body[member.start] === 0x7b && asksForNone(body, member));
}

/** OpenRouter's `{"effort":"none"}` and `{"enabled":false}`. With a repeated member, the meaning is ambiguous. */
function asksForNone(body: Uint8Array, { start }: JsonMember): boolean {
  const members = membersOf(body, start, fewMembers);
  if (members.length > fewMembers || findTwins(members.map(({ name }) => name)) !== undefined) return false;
  const effort = memberOf(members, "effort");
  const enabled = memberOf(members, "enabled");
  return (
    (effort !== undefined && isText(body, effort, "none")) || (enabled !== undefined && body[enabled.start] === 0x66)
  );
}

/** More than any server has. */
const fewMembers = 16;
