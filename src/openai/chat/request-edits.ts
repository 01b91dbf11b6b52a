import type { Dialect } from "../../model-api/dialect.js";
import { messageMedia } from "../../model-api/media/message-media.js";
import { addNameEdits } from "../../operations/upstream-body.js";
import type { MemberEdits } from "../../wire/json-members.js";
import type { ChatRequest, chatCaps } from "./chat-request.js";
import { editMessages, type MessageRules } from "./message-edits.js";
import { outlineOf } from "./message-texts.js";

/** Adds the edits that a server's dialect requires. */
export function addDialectEdits(request: ChatRequest, dialect: Dialect, edits: MemberEdits): void {
  const { capName } = dialect;
  if (capName !== undefined) renameCap(request, capName, edits);
  addNameEdits(request, dialect, edits);
}

/** The dialect's rules for messages; `undefined` when it has none. */
export function messageRules(dialect: Dialect | undefined, withoutImages: boolean): MessageRules | undefined {
  const { developerRole, laterSystemRole, droppedFromMessages: dropped = [] } = dialect ?? {};
  const keepsRoles = developerRole === undefined && laterSystemRole === undefined;
  if (keepsRoles && dropped.length === 0 && !withoutImages) return undefined;
  return { developerRole, laterSystemRole, dropped, withoutImages };
}

/** Adds the edits that the rules require in the messages. */
export function addMessageEdits(request: ChatRequest, rules: MessageRules, edits: MemberEdits): void {
  const images = rules.withoutImages ? messageMedia(request).filter(({ hasImage }) => hasImage) : [];
  const edited = editMessages(request.body, { ...outlineOf(request), images }, rules);
  if (edited !== undefined) edits.set("messages", edited);
}

function renameCap(request: ChatRequest, capName: (typeof chatCaps)[number], edits: MemberEdits): void {
  const other = capName === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  if (!request.members.some(({ name }) => name === other)) return;
  const [cap, otherCap] = [capOf(request, capName, edits), capOf(request, other, edits)];
  edits.set(other, null);
  if (otherCap !== undefined && (cap === undefined || otherCap < cap)) edits.set(capName, String(otherCap));
}

/** The cap that goes to the upstream, within the model's limit. */
function capOf(request: ChatRequest, name: (typeof chatCaps)[number], edits: MemberEdits): number | undefined {
  const edit = edits.get(name);
  if (typeof edit === "string") return Number(edit);
  return name === "max_tokens" ? request.maxTokens : request.maxCompletionTokens;
}
