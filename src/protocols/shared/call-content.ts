import { isRecord } from "../../wire/is-record.js";
import type { ResponseText } from "./response-format.js";

/** A part of a message. Types are those of OpenTelemetry's conventions for GenAI. */
export type ContentPart =
  | { type: "text" | "reasoning"; content: string }
  /** `arguments` as the model wrote them, JSON as a rule. */
  | { type: "tool_call"; id?: string; name?: string; arguments?: string }
  | { type: "tool_call_response"; id?: string; response: string }
  /** A file. Nothing of it is kept. */
  | { type: "blob"; modality: string };

/** A message of a call. */
export interface ContentMessage {
  role: string;
  parts: ContentPart[];
}

/** What a call was asked and answered, in the same words for all protocols. It is JSON. */
export interface CallContent {
  /** Instructions that the client sent beside its messages. */
  system?: ContentPart[];
  input?: ContentMessage[];
  /** One message for each choice. */
  output?: ContentMessage[];
}

type Json = Readonly<Record<string, unknown>>;

/** What a request asks, whatever its protocol: each has lists of messages or items, with parts of much the same members. */
export function askedContent(request: Json, room: ContentRoom): CallContent {
  const system = partsOf(request["system"] ?? request["instructions"], room);
  const input = messagesOf(request["messages"] ?? request["input"] ?? request["prompt"], room);
  return { ...(system.length > 0 && { system }), ...(input.length > 0 && { input }) };
}

/** The messages of a whole answer: one for each choice, or that of all its items. */
export function answeredMessages({ choices, output, ...message }: Json, room: ContentRoom): ContentMessage[] {
  if (Array.isArray(choices)) return messagesOf(choices.map(messageIn), room);
  if (!Array.isArray(output)) return messagesOf([message], room);
  const parts = messagesOf(output, room).flatMap((item) => item.parts);
  return parts.length === 0 ? [] : [{ role: "assistant", parts }];
}

function messagesOf(turns: unknown, room: ContentRoom): ContentMessage[] {
  if (typeof turns === "string") return messagesOf([{ role: "user", content: turns }], room);
  const messages: ContentMessage[] = [];
  for (const turn of Array.isArray(turns) ? turns : []) {
    if (!room.takesOne()) break;
    if (isRecord(turn)) messages.push(messageOf(turn, room));
    else if (typeof turn === "string") messages.push({ role: "user", parts: partsOf(turn, room) });
  }
  return messages;
}

/** The message of a choice; one of `/v1/completions` is a text. */
function messageIn(choice: unknown): unknown {
  if (!isRecord(choice)) return undefined;
  return choice["message"] ?? { role: "assistant", content: choice["text"] };
}

function messageOf(turn: Json, room: ContentRoom): ContentMessage {
  const { role, content, tool_call_id: answers } = turn;
  const isItem = typeof role !== "string";
  if (isItem) {
    const parts = partsOf([turn], room);
    return { role: parts[0]?.type === "tool_call_response" ? "tool" : "assistant", parts };
  }
  if (answers !== undefined)
    return { role: room.take(role), parts: partsOf([{ call_id: answers, output: content }], room) };
  const thoughts = turn["reasoning_content"] ?? turn["reasoning"];
  const thought = typeof thoughts === "string" ? [{ thinking: thoughts }] : [];
  const calls = Array.isArray(turn["tool_calls"]) ? turn["tool_calls"] : [];
  const said = [content, turn["refusal"]].flat();
  return { role: room.take(role), parts: partsOf([...thought, ...said, ...calls], room) };
}

function partsOf(content: unknown, room: ContentRoom): ContentPart[] {
  const parts: ContentPart[] = [];
  for (const piece of [content].flat()) {
    if (piece === undefined || piece === null || piece === "") continue;
    if (!room.takesOne()) break;
    if (typeof piece === "string") parts.push({ type: "text", content: room.take(piece) });
    else if (isRecord(piece)) parts.push(partOf(piece, room));
  }
  return parts;
}

/** Told by its members, since protocols have many words for one type. */
function partOf(piece: Json, room: ContentRoom): ContentPart {
  const { text, refusal, thinking, summary, tool_use_id: used } = piece;
  const thought = thinking ?? (summary === undefined ? undefined : textOf(summary));
  if (typeof thought === "string") return { type: "reasoning", content: room.take(thought) };
  const said = text ?? refusal;
  if (typeof said === "string") return { type: "text", content: room.take(said) };
  const id = used ?? piece["call_id"] ?? piece["id"];
  const known = typeof id === "string" ? { id: room.take(id) } : undefined;
  const result = piece["output"] ?? (used === undefined ? undefined : piece["content"]);
  if (result !== undefined) return { type: "tool_call_response", ...known, response: room.take(textOf(result)) };
  return callOf(piece, known, room) ?? { type: "blob", modality: modalityOf(String(piece["type"])) };
}

function callOf(piece: Json, id: { id: string } | undefined, room: ContentRoom): ContentPart | undefined {
  const called = isRecord(piece["function"]) ? piece["function"] : isRecord(piece["custom"]) ? piece["custom"] : piece;
  const { name, arguments: given, input } = called;
  const values = given ?? input;
  if (typeof name !== "string") return undefined;
  if (values === undefined) return { type: "tool_call", ...id, name: room.take(name) };
  const written = typeof values === "string" ? values : JSON.stringify(values);
  return { type: "tool_call", ...id, name: room.take(name), arguments: room.take(written) };
}

/** The texts of a result or a summary. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.flatMap((part) => (isRecord(part) && typeof part["text"] === "string" ? part["text"] : [])).join("\n");
}

function modalityOf(type: string): string {
  return ["image", "audio", "video"].find((modality) => type.includes(modality)) ?? "file";
}

/** The messages of a stream, one for each choice. @param texts - in their order. */
export function streamedMessages(texts: readonly ResponseText[], room: ContentRoom): ContentMessage[] {
  const choices = new Map<string, ContentMessage>();
  for (const { path, text } of texts) {
    if (!room.takesOne()) break;
    const [choice = ""] = /^choices\[\d+\]/.exec(path) ?? [];
    const message = choices.get(choice) ?? { role: "assistant", parts: [] };
    choices.set(choice, message);
    addText(message.parts, path, room.take(text));
  }
  return [...choices.values()];
}

function addText(parts: ContentPart[], path: string, text: string): void {
  const last = parts.at(-1);
  if (path.endsWith(".name")) parts.push({ type: "tool_call", name: text });
  else if (/\.(?:arguments|input)$/.test(path)) {
    if (last?.type === "tool_call") last.arguments = (last.arguments ?? "") + text;
    else parts.push({ type: "tool_call", arguments: text });
  } else {
    const type = /\.(?:thinking|reasoning\w*|summary)\b/.test(path) ? "reasoning" : "text";
    if (last?.type === type) last.content += text;
    else parts.push({ type, content: text });
  }
}

/** What a message, or a part of one, counts beside its texts: there may be many without any. */
const perThing = 32;

/** How much of a call's content is still taken. */
export class ContentRoom {
  #left: number;

  /** @param most - characters. */
  constructor(most: number) {
    this.#left = most;
  }

  /** @returns whether one more message or part is taken. */
  takesOne(): boolean {
    this.#left -= perThing;
    return this.#left > -perThing;
  }

  /** @returns what of the text is taken. */
  take(text: string): string {
    const taken = text.slice(0, Math.max(0, this.#left)).toWellFormed();
    this.#left -= taken.length;
    return taken;
  }
}
