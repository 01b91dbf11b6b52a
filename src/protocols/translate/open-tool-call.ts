import { isRecord } from "../../wire/is-record.js";
import type { ItemPrefix } from "../responses/own-items.js";
import { clientToolCall, clientToolOf, clientToolPrefix } from "./client-tools.js";
import type { ItemStatus, ItemWriter, OpenItem, OutputItem } from "./item-writer.js";
import { FreeIds } from "./tool-ids.js";
import type { ToolKind, ToolName, ToolNames } from "./tool-names.js";
import { textObject, unwrappedText } from "./wrapped-text.js";

const prefixes: Partial<Record<ToolKind, ItemPrefix>> = { function: "fc", custom: "ctc", tool_search: "tsc" };

/** A call of one of the client's tools. */
export class OpenToolCall implements OpenItem {
  readonly outputIndex: number;
  readonly callId: string;
  readonly #writer: ItemWriter;
  readonly #itemId: string;
  readonly #tool: ToolName;
  #arguments = "";
  #made: { readonly status: ItemStatus; readonly item: OutputItem } | undefined;

  constructor(writer: ItemWriter, tool: ToolName, callId: string) {
    const { outputIndex, itemId } = writer.nextItem(prefixOf(tool.kind));
    this.outputIndex = outputIndex;
    this.callId = callId;
    this.#itemId = itemId;
    this.#writer = writer;
    this.#tool = tool;
    writer.emit("response.output_item.added", { output_index: outputIndex, item: this.#write("in_progress", false) });
  }

  /** What the model sends to the tool. Of a tool that takes a text it is known at the end alone. */
  arguments(delta: string): void {
    if (delta === "") return;
    this.#arguments += delta;
    this.#made = undefined;
    this.#writer.grew(delta.length);
    if (this.#tool.kind !== "function") return;
    this.#writer.emit("response.function_call_arguments.delta", { ...this.#place(), delta });
  }

  /** Made once for each status: of what a tool takes as a text, its arguments are read for it. */
  item(status: ItemStatus): OutputItem {
    if (this.#made?.status !== status) this.#made = { status, item: this.#write(status, true) };
    return this.#made.item;
  }

  close(status: ItemStatus): void {
    const { kind, name } = this.#tool;
    const item = this.item(status);
    if (kind === "function") {
      const { arguments: args } = item;
      this.#writer.emit("response.function_call_arguments.done", { ...this.#place(), name, arguments: args });
    }
    if (kind === "custom") {
      const { input } = item;
      if (input !== "") this.#writer.emit("response.custom_tool_call_input.delta", { ...this.#place(), delta: input });
      this.#writer.emit("response.custom_tool_call_input.done", { ...this.#place(), input });
    }
    this.#writer.emit("response.output_item.done", { output_index: this.outputIndex, item });
  }

  /** @param isFilled - with what the model sends to the tool. */
  #write(status: ItemStatus | "in_progress", isFilled: boolean): OutputItem {
    const { kind, name, namespace } = this.#tool;
    const call = { id: this.#itemId, type: `${kind}_call`, status, call_id: this.callId };
    const within = namespace === undefined ? undefined : { namespace };
    const args = this.#arguments;
    switch (kind) {
      case "custom":
        return { ...call, type: "custom_tool_call", name, ...within, input: isFilled ? unwrappedText(args) : "" };
      case "tool_search":
        return { ...call, execution: "client", arguments: isFilled ? (textObject(args) ?? {}) : {} };
      case "shell":
      case "local_shell":
      case "apply_patch":
        return { ...call, ...clientToolCall(kind, isFilled ? args : "") };
      default:
        // A call that was cut off stays as it came.
        return { ...call, name, ...within, arguments: isFilled && args === "" && status === "completed" ? "{}" : args };
    }
  }

  #place(): { item_id: string; output_index: number } {
    return { item_id: this.#itemId, output_index: this.outputIndex };
  }
}

function prefixOf(kind: ToolKind): ItemPrefix {
  const own = clientToolOf(kind);
  return own === undefined ? (prefixes[kind] ?? "fc") : clientToolPrefix(own);
}

/** A call of which the name has not come yet. */
interface NamelessCall {
  readonly id: string | undefined;
  readonly arguments: string;
}

/** The calls of a chat completion, by their index there. */
export class CallDeltas {
  readonly #calls = new Map<number, OpenToolCall | NamelessCall>();
  readonly #ids = new FreeIds();
  readonly #extra = new Map<number, unknown>();
  readonly #writer: ItemWriter;
  readonly #names: ToolNames;
  readonly #responseId: string;

  constructor(writer: ItemWriter, names: ToolNames, responseId: string) {
    this.#writer = writer;
    this.#names = names;
    this.#responseId = responseId;
  }

  /**
   * @param deltas - repaired.
   * @returns the calls that have begun with these deltas.
   */
  add(deltas: readonly unknown[]): OpenToolCall[] {
    const begun: OpenToolCall[] = [];
    for (const delta of deltas) {
      const call = isRecord(delta) ? this.#addOne(delta) : undefined;
      if (call !== undefined) begun.push(call);
    }
    return begun;
  }

  /** What some calls carry beside their arguments, by the ids of the calls; `undefined`: none does. */
  get extra(): Readonly<Record<string, unknown>> | undefined {
    const extras = [...this.#extra].flatMap(([index, extra]): [string, unknown][] => {
      const call = this.#calls.get(index);
      return call instanceof OpenToolCall ? [[call.callId, extra]] : [];
    });
    return extras.length === 0 ? undefined : Object.fromEntries(extras);
  }

  #addOne(delta: Record<string, unknown>): OpenToolCall | undefined {
    const index = delta["index"] as number;
    const { name, arguments: sent } = isRecord(delta["function"]) ? delta["function"] : {};
    const args = typeof sent === "string" ? sent : isRecord(sent) ? JSON.stringify(sent) : "";
    if (isRecord(delta["extra_content"])) this.#extra.set(index, delta["extra_content"]);
    const known = this.#calls.get(index);
    if (known instanceof OpenToolCall) {
      known.arguments(args);
      return undefined;
    }
    const id = typeof delta["id"] === "string" && delta["id"] !== "" ? delta["id"] : known?.id;
    const before = (known?.arguments ?? "") + args;
    if (typeof name !== "string" || name === "") {
      this.#calls.set(index, { id, arguments: before });
      return undefined;
    }
    const call = new OpenToolCall(this.#writer, this.#names.restore(name), this.#freeId(id, index));
    this.#calls.set(index, call);
    call.arguments(before);
    return call;
  }

  /** Clients pair a call with its output by it. */
  #freeId(id: string | undefined, index: number): string {
    return this.#ids.take(id ?? `call_${this.#responseId.replace(/^resp_/, "")}_${index}`);
  }
}
