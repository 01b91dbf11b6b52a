import { cutOtherCaps } from "../../model-api/request/other-caps.js";
import { type Edited, editText, keptText, spliceText } from "../../wire/edited-bytes.js";
import {
  editMembers,
  type JsonMember,
  type MemberEdits,
  memberOf,
  membersOf,
  valueAt,
} from "../../wire/json-members.js";
import { addThinkingEdits } from "./messages-capabilities.js";
import { type MessagesRequest, messagesCaps } from "./messages-request.js";
import { usualMaxTokens } from "./usual-max-tokens.js";
import { withoutOwnThinking } from "./without-own-thinking.js";

/** Where a request goes. */
export interface MessagesTarget {
  /** The upstream's name for the model. */
  readonly model: string;
  /** No cap above it is sent. Default: any is. */
  readonly maxOutputTokens?: number | undefined;
  /** The cap of a request that names none: Messages do not go without. Default: that of the model, or the usual one. */
  readonly requiredCap?: number | undefined;
  /** Members that are left out. */
  readonly dropped?: readonly string[] | undefined;
  /** The model can think. Where it cannot, requests do not ask it to. Default: `true`. */
  readonly reasoning?: boolean | undefined;
}

/**
 * The request for an upstream that speaks Messages: the model under its name there, an output cap that the model can do,
 * and no thinking that its server would refuse. Everything else stays byte for byte.
 */
export function toUpstreamMessagesBody(request: MessagesRequest, target: MessagesTarget): Edited {
  const { model, maxOutputTokens, dropped = [], reasoning = true } = target;
  const { requiredCap = maxOutputTokens ?? usualMaxTokens } = target;
  const edits: MemberEdits = new Map([["model", JSON.stringify(model)]]);
  for (const name of dropped) if (memberOf(request.members, name) !== undefined) edits.set(name, null);
  if (!reasoning) addThinkingEdits(request, edits);
  const messages = withoutOwnThinking(request);
  if (messages !== undefined) edits.set("messages", messages);
  const most = maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const cap = Math.min(request.maxTokens ?? requiredCap, most);
  if (cap !== request.maxTokens) {
    edits.set("max_tokens", String(cap));
    cutBudget(request, cap, edits);
  }
  if (request.namesOtherCap) cutOtherCaps(request, messagesCaps, most, edits);
  return edited(request, edits);
}

function edited({ body, members, stream }: MessagesRequest, edits: MemberEdits): Edited {
  const { start, end } = memberOf(members, "model") as JsonMember;
  const bytes =
    edits.size === 1 ? spliceText(body, start, end, edits.get("model") as string) : editText(body, members, edits);
  // It is kept as long as the answer takes.
  return stream ? keptText(bytes) : bytes;
}

/** A budget for thinking must be less than the cap. */
function cutBudget({ body, members }: MessagesRequest, most: number, edits: MemberEdits): void {
  const thinking = memberOf(members, "thinking");
  if (thinking === undefined || body[thinking.start] !== 0x7b || edits.has("thinking")) return;
  const value = body.subarray(thinking.start, thinking.end);
  const own = membersOf(value, 0, 32);
  const budget = memberOf(own, "budget_tokens");
  const tokens = budget === undefined ? undefined : valueAt(value, budget);
  if (typeof tokens !== "number" || tokens < most) return;
  edits.set("thinking", editMembers(value, own, new Map([["budget_tokens", String(most - 1)]])));
}
