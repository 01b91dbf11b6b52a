import { Buffer } from "node:buffer";
import { expect } from "vitest";
import { createEventReader } from "../../../src/wire/event-reader.js";

export type Event = Record<string, unknown> & { type: string };

/** The events in a stream's bytes; each must have its name. */
export function eventsIn(...bytes: readonly Uint8Array[]): Event[] {
  const reader = createEventReader(1_000_000);
  return reader.read(Buffer.concat(bytes)).map(({ event, data }) => {
    const said = JSON.parse(data) as Event;
    expect(event).toBe(said.type);
    return said;
  });
}

const deltaTypes: Record<string, string[]> = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
};

/** The message that a strict client makes of the events: one block behind the other, each delta of its block's type. */
export function accumulated(events: readonly Event[]): Record<string, unknown> {
  const [start, ...rest] = events;
  expect(start?.type).toBe("message_start");
  const message = { ...(start?.["message"] as Record<string, unknown>) };
  const usage = { ...(message["usage"] as object) };
  expect(usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
  const content: Record<string, unknown>[] = [];
  let open: Record<string, unknown> | undefined;
  let input = "";
  let state: "blocks" | "delta" | "stop" = "blocks";
  for (const event of rest) {
    if (event.type === "ping") continue;
    expect(state).not.toBe("stop");
    if (event.type.startsWith("content_block")) expect(state).toBe("blocks");
    switch (event.type) {
      case "content_block_start":
        expect(open).toBeUndefined();
        expect(event["index"]).toBe(content.length);
        open = { ...(event["content_block"] as object) };
        input = "";
        break;
      case "content_block_delta": {
        expect(event["index"]).toBe(content.length);
        const delta = event["delta"] as Record<string, string>;
        expect(deltaTypes[String(open?.["type"])]).toContain(delta["type"]);
        if (delta["type"] === "input_json_delta") input += delta["partial_json"];
        for (const name of ["text", "thinking", "signature"]) {
          if (open !== undefined && delta[name] !== undefined) open[name] = `${open[name]}${delta[name]}`;
        }
        break;
      }
      case "content_block_stop":
        expect(event["index"]).toBe(content.length);
        if (open?.["type"] === "tool_use") {
          expect(open["input"]).toEqual({});
          open["input"] = JSON.parse(input === "" ? "{}" : input);
        }
        content.push(open as Record<string, unknown>);
        open = undefined;
        break;
      case "message_delta":
        expect(open).toBeUndefined();
        state = "delta";
        Object.assign(message, event["delta"]);
        Object.assign(usage, event["usage"]);
        break;
      default:
        expect(event.type).toBe("message_stop");
        expect(state).toBe("delta");
        state = "stop";
    }
  }
  expect(state).toBe("stop");
  return { ...message, content, usage };
}
