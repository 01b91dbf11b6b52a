import { type Edited, editText, keptText, spliceText } from "../../wire/edited-bytes.js";
import {
  editMembers,
  type JsonMember,
  type MemberEdits,
  memberOf,
  membersOf,
  valueAt,
} from "../../wire/json-members.js";
import { cutOtherCaps, usualMaxTokens } from "../shared/demand.js";
import { addThinkingEdits } from "./messages-capabilities.js";
import { type MessagesRequest, messagesCaps } from "./messages-request.js";
import { withoutOwnThinking } from "./own-thinking.js";

/** Where a request goes. */
interface MessagesTarget {
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

/** A beta by which Anthropic takes longer prompts, such as `context-1m-2025-08-07`. */
const wideContext = /context-(\d{1,6}(?:\.\d{1,3})?)([km])(?![a-z0-9])/i;

/**
 * The headers of a client without the betas by which a server takes prompts beyond the model's context: these cost more
 * than the catalog says, and more than is held. A model whose `contextLength` is that long keeps them.
 */
export function withinContext(
  headers: Readonly<Record<string, string>>,
  contextLength: number,
): Readonly<Record<string, string>> {
  const { "anthropic-beta": betas, ...others } = headers;
  if (betas === undefined || !wideContext.test(betas)) return headers;
  const kept = betas.split(",").filter((beta) => tokensOf(beta) <= contextLength);
  return kept.length === 0 ? others : { ...others, "anthropic-beta": kept.join(",").trim() };
}

/** The context that a beta opens; 0 for others. */
function tokensOf(beta: string): number {
  const [, amount, unit] = wideContext.exec(beta) ?? [];
  if (amount === undefined || unit === undefined) return 0;
  return Number(amount) * (unit.toLowerCase() === "m" ? 1_000_000 : 1000);
}
