import { invalidValue } from "../../errors/gateway-error.js";
import { isRecord } from "../../wire/is-record.js";
import { type RequestMessage, recordsIn } from "../messages/request-elements.js";
import { toMessagesToolId } from "../messages/tool-ids.js";
import { toolInput } from "../messages/tool-input.js";
import { type Block, contentBlocks, textBlock } from "./part-blocks.js";
import { thinkingBlocks } from "./thinking-blocks.js";
import { wrappedText } from "./wrapped-text.js";

/** A message of a request for one. Its blocks are JSON, in which the arguments of tools stay as they were. */
interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: string[];
}

/** What stands for the result of a call that was broken off: Messages insist on one. */
const noResult = "(no result)";

/** What a user says where Messages insist on a user's message and there is none. */
const filler = ".";

/** The messages of a request for a message, made of those of a chat completion in their order. */
export class MessagesTurns {
  readonly #system: Block[] = [];
  readonly #turns: Turn[] = [];
  /** Ids of calls that wait for results, by the client's ids. */
  readonly #calls = new Map<string, string>();
  readonly #ids = new Set<string>();
  /** The client's id of the last call of the former way to call functions. */
  #formerCall = "";
  #formerCalls = 0;
  #results: string[] = [];
  #rest: string[] = [];
  #thinks = false;

  /** Before the first of all other messages. */
  get system(): readonly Block[] {
    return this.#system;
  }

  /** Whether the last turn of the assistant begins with thinking. */
  get lastTurnThinks(): boolean {
    return this.#thinks;
  }

  /** Whether the last message answers calls. */
  get endsWithResults(): boolean {
    return this.#calls.size > 0 || this.#results.length > 0;
  }

  /** @throws GatewayError 400 */
  add({ role, members, path }: RequestMessage): void {
    const { content } = members;
    switch (role) {
      case "system":
      case "developer":
        this.#addSystem(contentBlocks(content, `${path}.content`));
        break;
      case "user":
        this.#rest.push(...contentBlocks(content, `${path}.content`).map(toJson));
        break;
      case "assistant":
        if (this.#results.length + this.#rest.length > 0) this.#endUserTurn();
        this.#addAssistant(members, path);
        break;
      case "tool":
        this.#addResult(String(members["tool_call_id"]), contentBlocks(content, `${path}.content`));
        break;
      case "function":
        this.#addResult(this.#formerCall, contentBlocks(content, `${path}.content`));
        break;
      default:
        throw invalidValue(`${path}.role`, `'${path}.role' must be a role that chat completions have.`);
    }
  }

  /** All of them, as JSON. */
  finish(): string[] {
    this.#endUserTurn();
    const last = this.#turns.at(-1);
    if (last?.role === "assistant") trimEnd(last);
    const turns = merged(this.#turns.filter(({ blocks }) => blocks.length > 0));
    const isMissing = turns[0]?.role !== "user";
    const all = isMissing ? [{ role: "user", blocks: [toJson({ type: "text", text: filler })] }, ...turns] : turns;
    return all.map(({ role, blocks }) => `{"role":"${role}","content":[${blocks.join(",")}]}`);
  }

  #addSystem(blocks: readonly Block[]): void {
    if (this.#turns.length === 0 && this.#rest.length === 0) {
      this.#system.push(...blocks);
      return;
    }
    for (const block of blocks) {
      const text = `<system-reminder>\n${String(block["text"])}\n</system-reminder>`;
      this.#rest.push(toJson(block["type"] === "text" ? { ...block, text } : block));
    }
  }

  #addAssistant(message: Record<string, unknown>, path: string): void {
    const thinking = thinkingBlocks(message);
    const texts = [...contentBlocks(message["content"], `${path}.content`), ...textBlock(message["refusal"])];
    const calls = recordsIn(message["tool_calls"]).map((call) => this.#toolUse(call));
    const former = message["function_call"];
    if (isRecord(former)) {
      this.#formerCall = `call_${this.#formerCalls++}`;
      calls.push(this.#toolUse({ id: this.#formerCall, function: former }));
    }
    const blocks = [...[...thinking, ...texts].map(toJson), ...calls];
    const last = this.#turns.at(-1);
    if (last?.role === "assistant") last.blocks.push(...blocks);
    else {
      this.#thinks = thinking.length > 0;
      this.#turns.push({ role: "assistant", blocks });
    }
  }

  #toolUse({ id, function: called, custom }: Record<string, unknown>): string {
    const asked = isRecord(custom) ? { name: custom["name"], arguments: wrappedText(custom["input"]) } : called;
    const { name, arguments: text } = isRecord(asked) ? asked : {};
    const own = String(id);
    const plain = toMessagesToolId(own === "" ? "call" : own);
    let free = plain;
    for (let count = 2; this.#ids.has(free); count++) free = `${plain}_${count}`;
    this.#ids.add(free);
    this.#calls.set(own, free);
    const head = toJson({ type: "tool_use", id: free, name: String(name) });
    return `${head.slice(0, -1)},"input":${toolInput(typeof text === "string" ? text : "")}}`;
  }

  /** What answers no call, or one a second time, is a text of the user's. */
  #addResult(id: string, content: Block[]): void {
    const call = this.#calls.get(id);
    if (call === undefined) {
      this.#rest.push(...content.map(toJson));
      return;
    }
    this.#calls.delete(id);
    this.#results.push(toJson({ type: "tool_result", tool_use_id: call, ...(content.length > 0 && { content }) }));
  }

  #endUserTurn(): void {
    for (const call of this.#calls.values()) {
      this.#results.push(toJson({ type: "tool_result", tool_use_id: call, content: noResult }));
    }
    const blocks = [...this.#results, ...this.#rest];
    if (blocks.length > 0) this.#turns.push({ role: "user", blocks });
    this.#calls.clear();
    this.#results = [];
    this.#rest = [];
  }
}

/** What is left of a turn with nothing in it are two of the same side, one behind the other. */
function merged(turns: readonly Turn[]): Turn[] {
  const found: Turn[] = [];
  for (const { role, blocks } of turns) {
    const last = found.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else found.push({ role, blocks });
  }
  return found;
}

/** Anthropic refuses white space at the end of what it is to go on with. */
function trimEnd({ blocks }: Turn): void {
  const last: unknown = JSON.parse(blocks.at(-1) ?? "null");
  if (!isRecord(last) || last["type"] !== "text") return;
  blocks[blocks.length - 1] = toJson({ ...last, text: String(last["text"]).trimEnd() });
}

function toJson(block: Block): string {
  return JSON.stringify(block);
}
