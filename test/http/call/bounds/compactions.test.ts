import { afterAll, describe, expect, it } from "vitest";
import { wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { withBounded } from "./start-bounded.js";

afterAll(expectNoSockets);

const words = "word ".repeat(5000);
const messages = [{ role: "user", content: words }];
/** Both model calls of a message that is compacted first: the one reads all, and each writes as much as it may. */
const iterations = [
  { type: "compaction", input_tokens: 5000, output_tokens: 300 },
  { type: "message", input_tokens: 1000, output_tokens: 300 },
];
const answer = wholeAnswer({
  ...{ id: "msg_1", type: "message", role: "assistant", model: "x", stop_reason: "end_turn", stop_sequence: null },
  content: [{ type: "text", text: "Done." }],
  usage: { input_tokens: 1000, output_tokens: 300, iterations },
});

describe("a request by which the server compacts its context first", () => {
  it.each([
    ["as Anthropic calls it", { edits: [{ type: "clear_tool_uses_20250919" }, { type: "compact_20260112" }] }],
    ["of a later date, with more", { edits: [{ type: "compact_20270101", trigger: { value: 50_000 } }] }],
  ])("holds both calls of the model: %s", async (_name, context_management) => {
    await withBounded({ target: "messages" }, async ({ call, upstream, events, warnings }) => {
      upstream.reply(answer);
      expect((await call("messages", { messages, max_tokens: 300, context_management })).status).toBe(200);
      await expect.poll(() => events.length).toBe(1);
      expect(events[0]?.chargedMicro).toBe(6000 + 600 * 10);
      expect(events[0]?.heldMicro).toBeGreaterThanOrEqual(6000 + 600 * 10);
      expect(warnings).toEqual([]);
    })();
  });

  it.each([
    undefined,
    null,
    "compact_20260112",
    {},
    { edits: "compact_20260112" },
    { edits: [null, { type: 5 }, { type: "clear_thinking_20251015" }] },
  ])("holds one, where it does not: %j", async (context_management) => {
    await withBounded({ target: "messages" }, async ({ call, events }) => {
      await (await call("messages", { messages, max_tokens: 300, context_management })).text();
      await expect.poll(() => events.length).toBe(1);
      expect(events[0]?.heldMicro).toBeLessThan(2 * 5000 + 300 * 10);
    })();
  });
});
