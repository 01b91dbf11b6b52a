import type { Dialect } from "../../model-api/dialect.js";
import type { Lacking } from "../../model-api/prompt/lacking.js";
import { cutOtherCaps } from "../../model-api/request/other-caps.js";
import { type Edited, editText, keptText, spliceText, wholeText } from "../../wire/edited-bytes.js";
import { type JsonMember, type MemberEdits, memberOf } from "../../wire/json-members.js";
import { withIncludeUsage } from "../stream-options.js";
import { addLackingEdits } from "./capabilities.js";
import { type ChatRequest, chatCaps } from "./chat-request.js";
import { addDialectEdits, addMessageEdits, messageRules } from "./request-edits.js";

/** The target of a request. */
interface Target {
  model: string;
  /** No cap above it is sent. */
  maxOutputTokens: number | undefined;
  /** The cap of a request that names none. */
  addedCap?: number | undefined;
  dialect?: Dialect | undefined;
  lacking?: Lacking | undefined;
}

/**
 * The request for the upstream. It has the upstream's name for the model, output caps within the model's limit, and on
 * streams a request for usage. The dialect's edits are made, and what the model lacks is removed. Everything else stays
 * byte for byte.
 */
export function encodeChatRequest(request: ChatRequest, target: Target): Edited {
  const body = editedBody(request, target);
  // The copy is kept until the response has ended.
  return request.stream ? keptText(body) : body;
}

/** The same in one piece. */
export function toUpstreamBody(request: ChatRequest, target: Target): Uint8Array {
  return wholeText(encodeChatRequest(request, target));
}

function editedBody(request: ChatRequest, target: Target): Edited {
  const { body, members, stream, includeUsage, namesOtherCap } = request;
  const { model, maxOutputTokens = Number.POSITIVE_INFINITY, addedCap, dialect, lacking } = target;
  const cutsTokens = (request.maxTokens ?? 0) > maxOutputTokens;
  const cutsCompletionTokens = (request.maxCompletionTokens ?? 0) > maxOutputTokens;
  const keepsOptions = stream ? includeUsage : memberOf(members, "stream_options") === undefined;
  const isPlain = keepsOptions && !cutsTokens && !cutsCompletionTokens && addedCap === undefined && !namesOtherCap;
  if (isPlain && dialect === undefined && lacking === undefined) {
    const { start, end } = memberOf(members, "model") as JsonMember;
    return spliceText(body, start, end, JSON.stringify(model));
  }
  const edits: MemberEdits = new Map();
  edits.set("model", JSON.stringify(model));
  if (cutsTokens) edits.set("max_tokens", String(maxOutputTokens));
  if (cutsCompletionTokens) edits.set("max_completion_tokens", String(maxOutputTokens));
  if (addedCap !== undefined) edits.set(dialect?.capName ?? "max_completion_tokens", String(addedCap));
  if (namesOtherCap) cutOtherCaps(request, chatCaps, maxOutputTokens, edits);
  if (!keepsOptions) edits.set("stream_options", stream ? withIncludeUsage(request) : null);
  if (dialect !== undefined) addDialectEdits(request, dialect, edits);
  if (lacking !== undefined) addLackingEdits(lacking, edits);
  const rules = messageRules(dialect, lacking?.action === "drop" && lacking.vision);
  if (rules !== undefined) addMessageEdits(request, rules, edits);
  return editText(body, members, edits);
}
