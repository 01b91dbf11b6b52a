import { expect } from "vitest";
import type { ResponseEvent } from "../../../src/protocols/responses/response-events.js";

type Item = Record<string, unknown> & { id: string; type: string };

interface Seen {
  item: Item;
  /** What the deltas of each part say together. */
  texts: Map<string, string>;
  openPart: string | undefined;
  done: Item | undefined;
}

/**
 * Reads events as the strictest client would: each thing is added before it grows, grows only while it is open, and is done
 * once, as what its deltas said. @returns the output that they make.
 */
export function readLadder(events: readonly ResponseEvent[]): Item[] {
  const items = readItems(events, 1);
  for (const { done, item } of items) expect(done, `${item.type} is done`).toBeDefined();
  return items.map(({ done }) => done as Item);
}

/** The same of a stream that failed: what was open stays so. @returns the ids of the output that had begun, in order. */
export function readBrokenLadder(events: readonly ResponseEvent[]): string[] {
  const [error, failed] = events.slice(-2) as [ResponseEvent, ResponseEvent];
  expect([error.type, failed.type]).toEqual(["error", "response.failed"]);
  const { code, message } = error as unknown as { code: string; message: string };
  expect(error).toMatchObject({ code, message, param: null, error: { code: expect.anything(), message, param: null } });
  expect(failed["response"]).toMatchObject({ status: "failed", store: false, error: { code, message } });
  return readItems(events, 2).map(({ item }) => item.id);
}

/** @param last - how many events end the stream. */
function readItems(events: readonly ResponseEvent[], last: number): Seen[] {
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index));
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"]);
  const items: Seen[] = [];
  for (const event of events.slice(2, -last)) readEvent(event, items);
  return items;
}

function readEvent(event: ResponseEvent, items: Seen[]): void {
  const index = event["output_index"] as number;
  if (event.type === "response.output_item.added") {
    expect(index).toBe(items.length);
    items.push({ item: event["item"] as Item, texts: new Map(), openPart: undefined, done: undefined });
    return;
  }
  const seen = items[index];
  if (seen === undefined) throw new Error(`${event.type} of an item that was not added`);
  expect(seen.done, `${event.type} of an item that is open`).toBeUndefined();
  if (event.type === "response.output_item.done") {
    expect(seen.openPart).toBeUndefined();
    readDone(event["item"] as Item, seen);
    return;
  }
  expect(event["item_id"]).toBe(seen.item.id);
  readPart(event, seen);
}

function readPart(event: ResponseEvent, seen: Seen): void {
  const part = `${String(event["content_index"] ?? event["summary_index"] ?? "call")}`;
  const [, kind = "", step = ""] = /^response\.(.+)\.(added|delta|done)$/.exec(event.type) ?? [];
  const isPart = kind.endsWith("_part");
  if (isPart && step === "added") {
    expect(seen.openPart).toBeUndefined();
    seen.openPart = part;
    seen.texts.set(part, "");
  } else if (isPart) {
    expect(seen.openPart).toBe(part);
    seen.openPart = undefined;
    const { text, refusal } = event["part"] as Record<string, unknown>;
    expect(text ?? refusal).toBe(seen.texts.get(part));
  } else if (step === "delta") {
    if (part !== "call") expect(seen.openPart).toBe(part);
    expect(event["delta"]).not.toBe("");
    seen.texts.set(part, (seen.texts.get(part) ?? "") + String(event["delta"]));
  } else if (step === "done") {
    const said = event["text"] ?? event["refusal"] ?? event["arguments"] ?? event["input"];
    // A call without arguments is completed.
    expect(said).toBe(seen.texts.get(part) || (event["arguments"] ?? ""));
  }
}

function readDone(done: Item, seen: Seen): void {
  const { id, type } = seen.item;
  expect({ id: done.id, type: done.type }).toEqual({ id, type });
  const parts = (done["content"] ?? done["summary"] ?? []) as Record<string, unknown>[];
  expect(parts.map(({ text, refusal }) => text ?? refusal)).toEqual(
    [...seen.texts].filter(([part]) => part !== "call").map(([, text]) => text),
  );
  seen.done = done;
}
