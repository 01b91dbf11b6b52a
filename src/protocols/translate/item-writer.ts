import { type ItemPrefix, ownItemId } from "../responses/own-items.js";
import type { ResponseEvent } from "../responses/response-events.js";

/** How an output item ended. */
export type ItemStatus = "completed" | "incomplete";

/** An item of a response's output. */
export type OutputItem = Readonly<Record<string, unknown>>;

/** An output item while it is being made. Each step of it is an event. */
export interface OpenItem {
  readonly outputIndex: number;
  /** The item as it would be if it ended now. */
  item(status: ItemStatus): OutputItem;
  /** Says that the item, and each part of it, is done. */
  close(status: ItemStatus): void;
}

/** Numbers the events and items of one response. */
export class ItemWriter {
  readonly #responseId: string;
  #events: ResponseEvent[] = [];
  #sequenceNumber = 0;
  #items = 0;
  #size = 0;

  constructor(responseId: string) {
    this.#responseId = responseId;
  }

  /** The number of the next event. */
  get sequenceNumber(): number {
    return this.#sequenceNumber;
  }

  /** How long the texts of all items are together, in UTF-16 code units. */
  get size(): number {
    return this.#size;
  }

  /** An item has got so much more. */
  grew(units: number): void {
    this.#size += units;
  }

  emit(type: string, members: object): void {
    this.#events.push({ type, sequence_number: this.#sequenceNumber++, ...members });
  }

  /** Takes events that bring their numbers with them. */
  emitAll(events: readonly ResponseEvent[]): void {
    this.#events.push(...events);
    this.#sequenceNumber += events.length;
  }

  /** An event went out that was made elsewhere. */
  went(): void {
    this.#sequenceNumber++;
  }

  /** @returns the next item's place in the output, and its id. @param mark - behind all else of the id. */
  nextItem(prefix: ItemPrefix, mark = ""): { outputIndex: number; itemId: string } {
    const outputIndex = this.#items++;
    return { outputIndex, itemId: ownItemId(prefix, this.#responseId, outputIndex) + mark };
  }

  /** The events since it was last asked. */
  take(): ResponseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
