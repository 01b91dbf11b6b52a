import { type JsonMember, memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import { fileMedia } from "../shared/media-kind.js";
import { type Media, messageMedia, strayMedia, valueMedia } from "../shared/message-media.js";
import { type PromptCount, type PromptLimits, promptTokens } from "../shared/prompt-tokens.js";
import type { MessagesRequest } from "./messages-request.js";

/** Of a document's source: more members than there are. */
const mostMembers = 32;

/**
 * The most tokens that the prompt of a request for a message can have: images and documents at the model's bounds, and all
 * else as text. Documents whose source is text count as text.
 * @throws GatewayError 400 when there is more media than anybody looks at.
 */
export function messagesPromptTokens(request: MessagesRequest, limits: PromptLimits): PromptCount {
  const { body, members, skips } = request;
  const system = memberOf(members, "system");
  const media = [...messageMedia(request), ...(system === undefined ? [] : strayMedia(body, system.start, skips))];
  return promptTokens(request, limits, documentTexts(body, media));
}

/** The body of an answer that counts tokens (Anthropic reference, "Count tokens in a Message"). */
export function tokenCountBody(tokens: number): string {
  return `{"input_tokens":${Math.max(1, Math.ceil(tokens))}}`;
}

/** The media without the documents that are text, and with the images inside these. */
function documentTexts(body: Uint8Array, media: readonly Media[]): Media[] {
  return media.flatMap((item) => {
    const source = item.kind === fileMedia ? textSource(body, item) : undefined;
    return source === undefined ? [item] : valueMedia(body, source.start);
  });
}

/** Where a document's source begins, if it is text or a list of blocks. */
function textSource(body: Uint8Array, { values }: Media): { start: number } | undefined {
  const [source, another] = values;
  if (source === undefined || another !== undefined || body[source.start] !== 0x7b) return undefined;
  const members = membersOf(body, source.start, mostMembers);
  if (members.length > mostMembers || hasTwins(members)) return undefined;
  const type = memberOf(members, "type");
  const kind = type === undefined ? undefined : valueAt(body, type);
  if (kind === "text") return isText(body, memberOf(members, "data")) ? source : undefined;
  return kind === "content" && memberOf(members, "data") === undefined ? source : undefined;
}

function isText(body: Uint8Array, member: JsonMember | undefined): boolean {
  return member !== undefined && body[member.start] === 0x22;
}

function hasTwins(members: readonly JsonMember[]): boolean {
  return new Set(members.map(({ name }) => name.toLowerCase())).size !== members.length;
}
