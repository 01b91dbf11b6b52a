import { invalidValue } from "../../errors/gateway-error.js";
import { isRecord } from "../../wire/is-record.js";
import { RawJson } from "../../wire/json-steps.js";
import { SliceCount, type Steps } from "../../wire/slices.js";
import { type Block, contentBlocks, textBlock, thinkingBlocks } from "./part-blocks.js";
import { type RequestMessage, recordsIn } from "./request-elements.js";
import { FreeIds, toMessagesToolId, toolInputSteps } from "./tool-ids.js";
import { wrappedText } from "./wrapped-text.js";

/** A block as it is written: in one that calls a tool, the arguments stay as they were. */
type WrittenBlock = Block | RawJson;

/** A message of a request for one. */
interface Turn {
  readonly role: "user" | "assistant";
  readonly content: WrittenBlock[];
}

/** What a call costs, as bytes that are read in the same time. */
const callBytes = 512;

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
  readonly #ids = new FreeIds();
  /** The client's id of the last call of the former way to call functions. */
  #formerCall = "";
  #formerCalls = 0;
  #results: Block[] = [];
  #rest: Block[] = [];
  #thinks = false;
  readonly #count = new SliceCount();

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
  *add({ role, members, path }: RequestMessage): Steps<void> {
    const { content } = members;
    switch (role) {
      case "system":
      case "developer":
        this.#addSystem(contentBlocks(content, `${path}.content`));
        break;
      case "user":
        append(this.#rest, contentBlocks(content, `${path}.content`));
        break;
      case "assistant":
        if (this.#results.length + this.#rest.length > 0) this.#endUserTurn();
        yield* this.#addAssistant(members, path);
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

  /** All of them. */
  finish(): readonly Turn[] {
    this.#endUserTurn();
    const last = this.#turns.at(-1);
    if (last?.role === "assistant") trimEnd(last);
    const turns = merged(this.#turns.filter(({ content }) => content.length > 0));
    const isMissing = turns[0]?.role !== "user";
    return isMissing ? [{ role: "user", content: [{ type: "text", text: filler }] }, ...turns] : turns;
  }

  #addSystem(blocks: readonly Block[]): void {
    if (this.#turns.length === 0 && this.#rest.length === 0) {
      append(this.#system, blocks);
      return;
    }
    for (const block of blocks) {
      const text = `<system-reminder>\n${String(block["text"])}\n</system-reminder>`;
      this.#rest.push(block["type"] === "text" ? { ...block, text } : block);
    }
  }

  *#addAssistant(message: Record<string, unknown>, path: string): Steps<void> {
    const thinking = thinkingBlocks(message);
    const texts = [...contentBlocks(message["content"], `${path}.content`), ...textBlock(message["refusal"])];
    const calls: RawJson[] = [];
    for (const call of recordsIn(message["tool_calls"])) {
      calls.push(yield* this.#toolUse(call));
      if (this.#count.isFull(callBytes)) yield;
    }
    const former = message["function_call"];
    if (isRecord(former)) {
      this.#formerCall = `call_${this.#formerCalls++}`;
      calls.push(yield* this.#toolUse({ id: this.#formerCall, function: former }));
    }
    const blocks: WrittenBlock[] = [...thinking, ...texts, ...calls];
    const last = this.#turns.at(-1);
    if (last?.role === "assistant") append(last.content, blocks);
    else {
      this.#thinks = thinking.length > 0;
      this.#turns.push({ role: "assistant", content: blocks });
    }
  }

  *#toolUse({ id, function: called, custom }: Record<string, unknown>): Steps<RawJson> {
    const asked = isRecord(custom) ? { name: custom["name"], arguments: wrappedText(custom["input"]) } : called;
    const { name, arguments: text } = isRecord(asked) ? asked : {};
    const own = String(id);
    const free = this.#ids.take(toMessagesToolId(own === "" ? "call" : own));
    this.#calls.set(own, free);
    const head = JSON.stringify({ type: "tool_use", id: free, name: String(name) });
    const input = yield* toolInputSteps(typeof text === "string" ? text : "");
    return input.within(`${head.slice(0, -1)},"input":`, "}");
  }

  /** What answers no call, or one a second time, is a text of the user's. */
  #addResult(id: string, content: Block[]): void {
    const call = this.#calls.get(id);
    if (call === undefined) {
      append(this.#rest, content);
      return;
    }
    this.#calls.delete(id);
    this.#results.push({ type: "tool_result", tool_use_id: call, ...(content.length > 0 && { content }) });
  }

  #endUserTurn(): void {
    for (const call of this.#calls.values()) {
      this.#results.push({ type: "tool_result", tool_use_id: call, content: noResult });
    }
    const content = [...this.#results, ...this.#rest];
    if (content.length > 0) this.#turns.push({ role: "user", content });
    this.#calls.clear();
    this.#results = [];
    this.#rest = [];
  }
}

/** What is left of a turn with nothing in it are two of the same side, one behind the other. */
function merged(turns: readonly Turn[]): Turn[] {
  const found: Turn[] = [];
  for (const { role, content } of turns) {
    const last = found.at(-1);
    if (last?.role === role) append(last.content, content);
    else found.push({ role, content });
  }
  return found;
}

/** Anthropic refuses white space at the end of what it is to go on with. */
function trimEnd({ content }: Turn): void {
  const last = content.at(-1);
  if (last === undefined || last instanceof RawJson || last["type"] !== "text") return;
  content[content.length - 1] = { ...last, text: String(last["text"]).trimEnd() };
}

/** Not by the arguments of one call, of which there may be too many. */
function append<Each>(list: Each[], added: readonly Each[]): void {
  for (const each of added) list.push(each);
}
