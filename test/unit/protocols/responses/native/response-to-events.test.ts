import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { responseToEvents } from "../../../../../src/protocols/responses/response-to-events.js";
import { toResponse } from "../../../../../src/protocols/translate/responses-client-sink.js";
import { readLadder } from "../../../../support/translate/event-ladder.js";
import { contextOf, end } from "../../../../support/translate/responses-samples.js";

const read = (response: Readonly<Record<string, unknown>>) =>
  responseToEvents(response).map(({ data, event }) => {
    const parsed = JSON.parse(data);
    expect(parsed.type).toBe(event);
    return parsed;
  });

describe("a whole response as a stream", () => {
  it("is made of well-formed events that end with it", () => {
    const text = fc.option(fc.string({ minLength: 1, maxLength: 9 }), { nil: null });
    const tools = [
      { type: "custom", name: "patch" },
      { type: "tool_search", execution: "client" },
    ];
    const call = fc.record({
      id: fc.uuid(),
      function: fc.record({
        name: fc.constantFrom("get", "patch", "tool_search"),
        arguments: fc.constantFrom("{}", '{"input":"x"}', '{"input":""}', "{"),
      }),
    });
    const message = fc.record({
      content: text,
      refusal: text,
      reasoning: text,
      tool_calls: fc.array(call, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(message, fc.constantFrom("stop", "length"), (said, finish) => {
        const choices = [{ index: 0, message: said, finish_reason: finish }];
        const response = toResponse({ choices }, contextOf({ tools }), end);
        const events = read(response);
        expect(readLadder(events)).toEqual(response["output"]);
        expect(events.at(-1)).toMatchObject({ type: `response.${String(response["status"])}`, response });
      }),
      { numRuns: 100 },
    );
  });

  it("passes items on that it does not know", () => {
    const item = { type: "web_search_call", id: "ws_1", status: "completed", action: { query: "q" } };
    expect(read({ id: "resp_up", status: "completed", output: [item, 7] }).slice(2, -1)).toEqual([
      {
        type: "response.output_item.added",
        sequence_number: 2,
        output_index: 0,
        item: { ...item, status: "in_progress" },
      },
      { type: "response.output_item.done", sequence_number: 3, output_index: 0, item },
    ]);
  });

  it("ends with the failure of one that failed", () => {
    const types = read({ status: "failed", error: { code: "server_error" } }).map(({ type }) => type);
    expect(types).toEqual(["response.created", "response.in_progress", "response.failed"]);
  });
});
