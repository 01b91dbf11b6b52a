import type { ThoughtSeal } from "../../seal/payload-seal.js";
import { type ReasoningMembers, type ThoughtName, thoughtMark, writeReasoning } from "../responses/own-items.js";
import type { ItemStatus, ItemWriter, OpenItem, OutputItem } from "./item-writer.js";
import { addDetails, type ReasoningDelta } from "./reasoning-reader.js";

/** Whose thoughts they are, and under which name they go back. */
interface ReasoningSource {
  readonly thoughts: ThoughtSeal;
  readonly name: ThoughtName;
  /** The client asked for what the target wants back of them. */
  readonly isKept: boolean;
}

/** Thoughts that the model has shown: clients show them where they are a summary. */
export class OpenReasoning implements OpenItem {
  readonly outputIndex: number;
  readonly #writer: ItemWriter;
  readonly #itemId: string;
  readonly #thoughts: ThoughtSeal;
  /** The client keeps what the target wants back of them. */
  readonly #isKept: boolean;
  readonly #details: Record<string, unknown>[] = [];
  #extra: Readonly<Record<string, unknown>> | undefined;
  #text = "";
  #hasText = false;
  readonly #name: ThoughtName;

  constructor(writer: ItemWriter, { thoughts, name, isKept }: ReasoningSource) {
    const { outputIndex, itemId } = writer.nextItem("rs", thoughtMark(thoughts.origin, name));
    this.#name = name;
    this.#isKept = isKept;
    this.outputIndex = outputIndex;
    this.#itemId = itemId;
    this.#writer = writer;
    this.#thoughts = thoughts;
    writer.emit("response.output_item.added", {
      output_index: outputIndex,
      item: { id: itemId, type: "reasoning", summary: [] },
    });
  }

  add({ text, details }: Pick<ReasoningDelta, "text" | "details">): void {
    addDetails(this.#details, details);
    if (text === "") return;
    if (!this.#hasText) {
      this.#hasText = true;
      const part = { type: "summary_text", text: "" };
      this.#writer.emit("response.reasoning_summary_part.added", { ...this.#place(), part });
    }
    this.#text += text;
    this.#writer.grew(text.length);
    this.#writer.emit("response.reasoning_summary_text.delta", { ...this.#place(), delta: text });
  }

  /** @param extra - the `extra_content` of calls, by their ids. */
  addExtra(extra: Readonly<Record<string, unknown>>): void {
    this.#extra = extra;
  }

  item(status: ItemStatus): OutputItem {
    return {
      id: this.#itemId,
      type: "reasoning",
      summary: this.#hasText ? [{ type: "summary_text", text: this.#text }] : [],
      ...(this.#isKept ? { encrypted_content: writeReasoning(this.#thoughts, this.#members()) } : undefined),
      ...(status === "incomplete" ? { status } : undefined),
    };
  }

  close(status: ItemStatus): void {
    if (this.#hasText) {
      const text = this.#text;
      this.#writer.emit("response.reasoning_summary_text.done", { ...this.#place(), text });
      const part = { type: "summary_text", text };
      this.#writer.emit("response.reasoning_summary_part.done", { ...this.#place(), part });
    }
    this.#writer.emit("response.output_item.done", { output_index: this.outputIndex, item: this.item(status) });
  }

  #members(): ReasoningMembers {
    return {
      ...(this.#text === "" ? undefined : { [this.#name]: this.#text }),
      ...(this.#details.length === 0 ? undefined : { reasoning_details: this.#details }),
      ...(this.#extra === undefined ? undefined : { extra_content: this.#extra }),
    };
  }

  #place(): { item_id: string; output_index: number; summary_index: number } {
    return { item_id: this.#itemId, output_index: this.outputIndex, summary_index: 0 };
  }
}
