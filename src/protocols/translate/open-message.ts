import type { ItemStatus, ItemWriter, OpenItem, OutputItem } from "./item-writer.js";

interface TextPart {
  readonly type: "output_text";
  text: string;
  readonly annotations: unknown[];
  readonly logprobs: unknown[];
}

interface RefusalPart {
  readonly type: "refusal";
  refusal: string;
}

/** What the probabilities of a token are as text, about. */
const logprobUnits = 100;

/** A message of the model's, of texts and refusals. */
export class OpenMessage implements OpenItem {
  readonly outputIndex: number;
  readonly #writer: ItemWriter;
  readonly #itemId: string;
  readonly #parts: (TextPart | RefusalPart)[] = [];

  constructor(writer: ItemWriter) {
    const { outputIndex, itemId } = writer.nextItem("msg");
    this.outputIndex = outputIndex;
    this.#itemId = itemId;
    this.#writer = writer;
    const item = { id: itemId, type: "message", status: "in_progress", role: "assistant", content: [] };
    writer.emit("response.output_item.added", { output_index: outputIndex, item });
  }

  /** @param logprobs - those of the text, as this API has them. */
  text(delta: string, logprobs: readonly unknown[] = []): void {
    const part = this.#textPart();
    part.text += delta;
    this.#writer.grew(delta.length + logprobs.length * logprobUnits);
    // A whole response brings those of all its tokens at once: too many for the arguments of one call.
    for (const logprob of logprobs) part.logprobs.push(logprob);
    if (delta === "") return;
    // Most events are this one: written out, it costs half.
    this.#writer.emitAll([
      {
        type: "response.output_text.delta",
        sequence_number: this.#writer.sequenceNumber,
        item_id: this.#itemId,
        output_index: this.outputIndex,
        content_index: this.#parts.length - 1,
        delta,
        logprobs,
      },
    ]);
  }

  /** The same of a piece whose event went out already. */
  went(delta: string): void {
    this.#textPart().text += delta;
    this.#writer.grew(delta.length);
    this.#writer.went();
  }

  annotation(annotation: Readonly<Record<string, unknown>>): void {
    const { annotations } = this.#textPart();
    const place = { ...this.#place(), annotation_index: annotations.length };
    annotations.push(annotation);
    this.#writer.emit("response.output_text.annotation.added", { ...place, annotation });
  }

  refusal(delta: string): void {
    let part = this.#parts.at(-1);
    if (part?.type !== "refusal") {
      part = { type: "refusal", refusal: "" };
      this.#addPart(part);
    }
    part.refusal += delta;
    this.#writer.grew(delta.length);
    this.#writer.emit("response.refusal.delta", { ...this.#place(), delta });
  }

  item(status: ItemStatus): OutputItem {
    const content = this.#parts.map(copyOf);
    return { id: this.#itemId, type: "message", status, role: "assistant", content };
  }

  close(status: ItemStatus): void {
    this.#closePart();
    this.#writer.emit("response.output_item.done", { output_index: this.outputIndex, item: this.item(status) });
  }

  #textPart(): TextPart {
    const last = this.#parts.at(-1);
    if (last?.type === "output_text") return last;
    const part: TextPart = { type: "output_text", text: "", annotations: [], logprobs: [] };
    this.#addPart(part);
    return part;
  }

  #addPart(part: TextPart | RefusalPart): void {
    this.#closePart();
    this.#parts.push(part);
    this.#writer.emit("response.content_part.added", { ...this.#place(), part: copyOf(part) });
  }

  #closePart(): void {
    const part = this.#parts.at(-1);
    if (part === undefined) return;
    if (part.type === "refusal") {
      this.#writer.emit("response.refusal.done", { ...this.#place(), refusal: part.refusal });
    } else {
      const { text, logprobs } = part;
      this.#writer.emit("response.output_text.done", { ...this.#place(), text, logprobs: [...logprobs] });
    }
    this.#writer.emit("response.content_part.done", { ...this.#place(), part: copyOf(part) });
  }

  /** Of the last part. */
  #place(): { item_id: string; output_index: number; content_index: number } {
    return { item_id: this.#itemId, output_index: this.outputIndex, content_index: this.#parts.length - 1 };
  }
}

function copyOf(part: TextPart | RefusalPart): object {
  if (part.type === "refusal") return { ...part };
  return { ...part, annotations: [...part.annotations], logprobs: [...part.logprobs] };
}
