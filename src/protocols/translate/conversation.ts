import type { ReasoningMembers } from "../responses/own-items.js";
import { type ChatPart, isChatText, toContent } from "./chat-parts.js";
import { FreeIds } from "./tool-ids.js";

/** A message of a chat completion request. */
export type ChatMessage = Readonly<Record<string, unknown>> & { readonly role: string };

/** A call, and what it gave. */
interface Call {
  readonly id: string;
  /** As the client sent it. */
  readonly sentId: string;
  readonly name: string;
  readonly arguments: string;
  output?: readonly ChatPart[];
}

/** What a model said at once: it becomes one message, with the outputs of its calls right behind. */
interface AssistantTurn {
  readonly texts: string[];
  readonly refusals: string[];
  readonly calls: Call[];
  readonly reasoning: ReasoningMembers[];
}

/** The calls of one id that one message makes, of which the first have had their outputs. */
interface CallGroup {
  readonly turn: AssistantTurn;
  readonly calls: Call[];
  answered: number;
}

export const noOutput = "(no output)";
export const imageNote = "[The output's other parts are in the message below.]";

/**
 * Gathers the items of a response's input into the messages of a chat. Servers insist that each call has one output, right
 * behind the message that made it; items come in any order, and not all of them.
 */
export class Conversation {
  readonly #entries: (ChatMessage | AssistantTurn)[] = [];
  /** By the ids that the client has sent, the latest last. */
  readonly #calls = new Map<string, CallGroup[]>();
  readonly #ids = new FreeIds();
  #open: AssistantTurn | undefined;

  /** A message of any role but the assistant's. */
  message(message: ChatMessage): void {
    this.#open = undefined;
    this.#entries.push(message);
  }

  text(text: string): void {
    if (text !== "") this.#turn().texts.push(text);
  }

  refusal(text: string): void {
    if (text !== "") this.#turn().refusals.push(text);
  }

  reasoning(members: ReasoningMembers): void {
    this.#turn().reasoning.push(members);
  }

  /** @param callId - calls of one id, as weak models make them, get different ones. */
  call(callId: string, name: string, args: string): void {
    const turn = this.#turn();
    const call: Call = { id: this.#ids.take(callId), sentId: callId, name, arguments: args };
    turn.calls.push(call);
    const groups = this.#calls.get(callId) ?? [];
    const last = groups.at(-1);
    if (last?.turn === turn) last.calls.push(call);
    else groups.push({ turn, calls: [call], answered: 0 });
    this.#calls.set(callId, groups);
  }

  /** The output of a call. Without its call it is a user's text: no server would take it for more. */
  output(callId: string, parts: readonly ChatPart[]): void {
    this.#open = undefined;
    const groups = this.#calls.get(callId);
    const last = groups?.at(-1);
    const call = last?.calls[last.answered];
    if (last !== undefined && call !== undefined) {
      call.output = parts;
      if (++last.answered === last.calls.length) groups?.pop();
      return;
    }
    const texts = [{ type: "text", text: `Output of the tool call ${callId}:` }, ...parts];
    this.#entries.push({ role: "user", content: toContent(texts, "\n") });
  }

  messages(): ChatMessage[] {
    return this.#entries.flatMap((entry) => ("calls" in entry ? turnMessages(entry as AssistantTurn) : [entry]));
  }

  #turn(): AssistantTurn {
    if (this.#open === undefined) {
      this.#open = { texts: [], refusals: [], calls: [], reasoning: [] };
      this.#entries.push(this.#open);
    }
    return this.#open;
  }
}

function turnMessages({ texts, refusals, calls, reasoning }: AssistantTurn): ChatMessage[] {
  // Placeholders of clients that were interrupted: servers refuse them.
  if (texts.length === 0 && refusals.length === 0 && calls.length === 0) return [];
  const { extra_content: extra = {}, ...thoughts } = joinReasoning(reasoning);
  const message = {
    role: "assistant",
    content: texts.length === 0 ? null : texts.join("\n\n"),
    ...(refusals.length === 0 ? undefined : { refusal: refusals.join("\n\n") }),
    ...thoughts,
    ...(calls.length === 0
      ? undefined
      : {
          tool_calls: calls.map(({ id, sentId, name, arguments: args }) => ({
            id,
            type: "function",
            function: { name, arguments: args },
            ...(Object.hasOwn(extra, sentId) ? { extra_content: extra[sentId] } : undefined),
          })),
        }),
  };
  const others = calls.flatMap(({ output = [] }) => output.filter((part) => !isChatText(part)));
  return [
    message,
    ...calls.map(({ id, output }) => ({ role: "tool", tool_call_id: id, content: outputText(output) })),
    ...(others.length === 0 ? [] : [{ role: "user", content: others }]),
  ];
}

function outputText(output: readonly ChatPart[] | undefined): string {
  if (output === undefined) return noOutput;
  const texts = output.filter(isChatText).map(({ text }) => text);
  if (texts.length < output.length) texts.push(imageNote);
  return texts.join("\n");
}

/** Each of them is looked at once, however many there are. */
function joinReasoning(all: readonly ReasoningMembers[]): ReasoningMembers {
  const joined: Record<string, unknown> = {};
  const extra: Record<string, unknown> = {};
  for (const { extra_content: added, ...members } of all) {
    if (added !== undefined) joined["extra_content"] = Object.assign(extra, added);
    for (const [name, value] of Object.entries(members)) {
      const former = joined[name];
      if (former === undefined) joined[name] = Array.isArray(value) ? [...value] : value;
      else if (Array.isArray(former) && Array.isArray(value)) for (const each of value) former.push(each);
      else joined[name] = typeof former === "string" ? `${former}\n\n${String(value)}` : value;
    }
  }
  return joined;
}
