import { invalidValue } from "../../errors/gateway-error.js";
import type { ThoughtSeal } from "../../seal/payload-seal.js";
import { isRecord } from "../../wire/is-record.js";
import { readOwnSignature } from "../messages/own-thinking.js";
import { type BlockPart, blockParts, readToolResult, type ToolResult, toBlockContent } from "./block-parts.js";
import type { MessageToolNames } from "./message-translation.js";
import type { RequestMessage } from "./request-elements.js";
import { fromMessagesToolId } from "./tool-ids.js";

type ChatMessage = Record<string, unknown>;

/** What stands for the result of a call that was broken off: chat completions insist on one. */
const noResult = "(no result)";

/**
 * The messages of a chat completion, made of those of a request for a message in their order. Results of tools go right
 * behind the calls that they are for.
 */
export class ChatMessages {
  readonly #thoughts: ThoughtSeal;
  readonly #toolNames: MessageToolNames;
  readonly #messages: ChatMessage[] = [];
  /** Of the assistant's turn, while it lasts. */
  #turn: { parts: string; calls: ChatMessage[]; reasoning: string; details: unknown[]; extra?: unknown } | undefined;
  /** Calls that wait for results, by the client's ids. */
  readonly #calls = new Set<string>();
  readonly #results = new Map<string, string>();
  /** What comes behind the results: media that are part of them, and all else of the turn. */
  #media: BlockPart[] = [];
  #rest: ChatMessage[] = [];

  /** @param thoughts - the target's. */
  constructor(thoughts: ThoughtSeal, toolNames: MessageToolNames) {
    this.#thoughts = thoughts;
    this.#toolNames = toolNames;
  }

  /** @param blocks - of the request's `system`. */
  addSystem(parts: readonly BlockPart[]): void {
    if (parts.length > 0) this.#messages.push({ role: "system", content: toBlockContent(parts) });
  }

  /** @throws GatewayError 400 */
  add(message: RequestMessage): void {
    const { role, members, path } = message;
    const { content } = members;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : blocksIn(content);
    switch (role) {
      case "assistant":
        if (this.#turn === undefined) this.#endUserTurn();
        this.#addAssistant(blocks, message);
        break;
      case "user":
        this.#endAssistantTurn();
        this.#addUser(blocks, path);
        break;
      case "system":
        this.#endAssistantTurn();
        this.#addMidSystem(blocks, path);
        break;
      default:
        throw invalidValue(`${path}.role`, "Input should be 'user', 'assistant' or 'system'");
    }
  }

  /** All of them. */
  finish(): readonly ChatMessage[] {
    this.#endAssistantTurn();
    this.#endUserTurn();
    return this.#messages;
  }

  #addAssistant(blocks: readonly Record<string, unknown>[], { raw }: RequestMessage): void {
    const turn = this.#turn ?? { parts: "", calls: [], reasoning: "", details: [] };
    this.#turn = turn;
    for (const [index, block] of blocks.entries()) {
      if (block["type"] === "text" && typeof block["text"] === "string") turn.parts += block["text"];
      else if (block["type"] === "thinking") this.#addThinking(block);
      else if (block["type"] === "tool_use") {
        const id = String(block["id"]);
        this.#calls.add(id);
        const called = { name: this.#toolNames.toChat(String(block["name"])), arguments: raw[index] ?? "{}" };
        const extra = turn.extra === undefined ? undefined : { extra_content: turn.extra };
        turn.extra = undefined;
        turn.calls.push({ id: fromMessagesToolId(id), type: "function", function: called, ...extra });
      }
    }
  }

  /** Only the model that has thought it can make anything of it, as a rule. */
  #addThinking({ thinking, signature }: Record<string, unknown>): void {
    const own = readOwnSignature(this.#thoughts, signature);
    if (this.#turn === undefined || own === undefined) return;
    this.#turn.reasoning += own.text ?? (typeof thinking === "string" ? thinking : "");
    // A client can make them as many as it likes: too many for the arguments of one call.
    for (const detail of own.details ?? []) this.#turn.details.push(detail);
    this.#turn.extra = own.extra;
  }

  #endAssistantTurn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined || (turn.parts === "" && turn.calls.length === 0)) return;
    this.#messages.push({
      role: "assistant",
      content: turn.parts === "" ? null : turn.parts,
      ...(turn.reasoning === "" ? undefined : { reasoning_content: turn.reasoning }),
      ...(turn.details.length === 0 ? undefined : { reasoning_details: turn.details }),
      ...(turn.calls.length === 0 ? undefined : { tool_calls: turn.calls }),
    });
  }

  #addUser(blocks: readonly Record<string, unknown>[], path: string): void {
    const parts: BlockPart[] = [];
    for (const [index, block] of blocks.entries()) {
      const blockPath = `${path}.content[${index}]`;
      if (block["type"] !== "tool_result") parts.push(...blockParts(block, blockPath));
      else parts.push(...this.#addResult(readToolResult(block, blockPath)));
    }
    if (parts.length > 0) this.#rest.push({ role: "user", content: toBlockContent(parts) });
  }

  /** @returns what of it is for the user's message: all of it, where nothing was called. */
  #addResult({ id, text, media }: ToolResult): BlockPart[] {
    if (!this.#calls.has(id)) return [...(text === "" ? [] : [{ type: "text", text }]), ...media];
    const former = this.#results.get(id);
    this.#results.set(id, former === undefined ? text : `${former}\n\n${text}`);
    this.#media.push(...media);
    return [];
  }

  #addMidSystem(blocks: readonly Record<string, unknown>[], path: string): void {
    const parts = blocks.flatMap((block, index) => blockParts(block, `${path}.content[${index}]`));
    if (parts.length > 0) this.#rest.push({ role: "system", content: toBlockContent(parts) });
  }

  #endUserTurn(): void {
    for (const id of this.#calls) {
      const content = this.#results.get(id) ?? noResult;
      this.#messages.push({ role: "tool", tool_call_id: fromMessagesToolId(id), content });
    }
    if (this.#media.length > 0) this.#messages.push({ role: "user", content: this.#media });
    this.#messages.push(...this.#rest);
    this.#calls.clear();
    this.#results.clear();
    this.#media = [];
    this.#rest = [];
  }
}

/** Each in its place. */
function blocksIn(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? content.map((block) => (isRecord(block) ? block : {})) : [];
}
