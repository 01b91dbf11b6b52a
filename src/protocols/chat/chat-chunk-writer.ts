import { Buffer } from "node:buffer";
import { editMembers, type MemberEdits, membersOf } from "../../wire/json-members.js";
import { eventEnd, eventStart } from "../../wire/plain-event.js";
import type { Dialect } from "../shared/dialect.js";
import type { AttemptContext } from "../shared/exchange.js";
import { hasUsageTotals, readUsage, toUsageObject, visibleUsage } from "../shared/usage-object.js";
import type { ChatChunk } from "./chat-chunk-reader.js";
import type { ChatProgress } from "./chat-progress.js";
import { type CompletionWords, chatWords, completionId, createdAt } from "./chat-response.js";

const doneEvent = "data: [DONE]\n\n";

/**
 * Writes chunks for a client of completions: own id, own model name, and usage only if the client requested it.
 * Everything else stays byte for byte.
 */
export class ChatChunkWriter {
  readonly #context: AttemptContext;
  readonly #includeUsage: boolean;
  readonly #words: CompletionWords;
  #id: string | undefined;
  #created: number | undefined;
  /** The usage that was sent. */
  #sentUsage: string | undefined;

  /** @param includeUsage - the client requested the usage chunk. @param words - what the client calls a completion. */
  constructor(context: AttemptContext, includeUsage: boolean, words: CompletionWords = chatWords) {
    this.#context = context;
    this.#includeUsage = includeUsage;
    this.#words = words;
  }

  /** The id of the response; `undefined` until something of it was written. */
  get id(): string | undefined {
    return this.#id;
  }

  /** @returns the event for the client; `undefined` when there is none. */
  write({ json, text, isRepaired, usage }: ChatChunk): Uint8Array | undefined {
    const { choices } = json;
    const isList = Array.isArray(choices);
    if (!isList || choices.length === 0) {
      if (usage === undefined ? !isList : !this.#isUsageChunk(usage)) return undefined;
    }
    const edits: MemberEdits = new Map();
    if (json["error"] === null) edits.set("error", null);
    if (!isList) edits.set("choices", "[]");
    else if (isRepaired) edits.set("choices", JSON.stringify(choices));
    this.#editUsage(json, isList && choices.length > 0 ? undefined : usage, edits);
    this.#stamp(json, edits);
    // A line break in valid JSON can only be white space. It must not split the event's line.
    const bytes = Buffer.from(text.includes("\n") ? text.replaceAll("\n", " ") : text);
    const edited = edits.size === 0 ? bytes : editMembers(bytes, membersOf(bytes), edits);
    return Buffer.concat([eventStart, edited, eventEnd]);
  }

  /** The end of the stream: the usage chunk, if it was requested and not sent yet, and `[DONE]`. */
  end({ tokens, reportedUsage }: Pick<ChatProgress, "tokens" | "reportedUsage">): Uint8Array {
    if (!this.#includeUsage || this.#sentUsage !== undefined) return Buffer.from(doneEvent);
    const { model, dialect } = this.#context;
    const usage = { ...(visibleUsage(reportedUsage, dialect) as object), ...toUsageObject(tokens) };
    const chunk = { id: this.#id, object: this.#words.chunk, created: this.#created, model, choices: [], usage };
    return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n${doneEvent}`);
  }

  /** Whether to send a chunk that contains usage only. Some servers repeat it, and some clients add up all of them. */
  #isUsageChunk(usage: Record<string, unknown>): boolean {
    if (!this.#includeUsage || !isWhole(usage)) return false;
    const sent = this.#sentUsage;
    this.#sentUsage = JSON.stringify(usage);
    return sent !== this.#sentUsage;
  }

  /** @param usage - of a chunk that has nothing else: the only one with usage, as OpenAI's. */
  #editUsage(json: ChatChunk["json"], usage: Record<string, unknown> | undefined, edits: MemberEdits): void {
    const said = json["usage"];
    if (said !== undefined && !this.#includeUsage) {
      edits.set("usage", null);
    } else if (usage !== undefined) {
      const shown = shownUsage(usage, this.#context.dialect);
      if (shown !== usage) edits.set("usage", JSON.stringify(shown));
    } else if (said !== undefined && said !== null) {
      edits.set("usage", "null");
    }
  }

  /** Sets the members that are the same in all chunks of a response. */
  #stamp(json: ChatChunk["json"], edits: MemberEdits): void {
    const { created } = json;
    this.#id ??= completionId(json["id"], this.#context, this.#words);
    if (json["id"] !== this.#id) edits.set("id", JSON.stringify(this.#id));
    const { chunk } = this.#words;
    if (json["object"] !== chunk) edits.set("object", JSON.stringify(chunk));
    // Azure's first chunk has no date: its `created` is 0.
    const isDate = typeof created === "number" && Number.isInteger(created) && created > 0;
    this.#created ??= isDate ? created : createdAt(this.#context);
    if (created !== this.#created) edits.set("created", String(this.#created));
    if (json["model"] !== this.#context.model) edits.set("model", JSON.stringify(this.#context.model));
  }
}

/** Whether a report counts both halves, so that it says what is charged. Where none does, the end of the stream has one. */
function isWhole(usage: Record<string, unknown>): boolean {
  return (readUsage(usage)?.output ?? 0) > 0;
}

/** With the counts that are charged; the same object where it has them. */
function shownUsage(usage: Record<string, unknown>, dialect: Dialect | undefined): unknown {
  const visible = visibleUsage(usage, dialect);
  const tokens = readUsage(usage);
  const isShown = tokens === undefined || hasUsageTotals(visible, tokens);
  return isShown ? visible : { ...(visible as object), ...toUsageObject(tokens) };
}
