import { isRecord } from "../../wire/is-record.js";
import { FreeIds } from "../free-ids.js";
import type { ItemWriter } from "./item-writer.js";
import { OpenToolCall } from "./open-tool-call.js";
import type { ToolNames } from "./tool-names.js";

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
