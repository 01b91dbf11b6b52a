import { afterAll, describe, expect, it } from "vitest";
import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import {
  bothTargets,
  chatTarget,
  frame,
  nativeEvents,
  nativeTarget,
} from "../../../support/operations/messages/message-samples.js";
import {
  messageRefusal,
  readMessage,
  readMessageEvents,
  withMessages,
} from "../../../support/operations/messages/messages-server.js";
import { smallModel } from "../../../support/test-gateway.js";
import type { Event } from "../../../support/translate/message-events.js";

/* What clients of Messages trip over at other gateways, each by what they would see. */

afterAll(expectNoSockets);

const reasoner = { models: [{ ...smallModel, capabilities: { tools: true, reasoning: true } }] };
const usage = (details: Record<string, unknown>) => ({
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  ...details,
});
const call = (index: number, args: string | null, id = `call_${index}`) => ({
  tool_calls: [{ index, id, type: "function", function: { name: "f", arguments: args } }],
});

const blocksOf = (events: readonly Event[]) =>
  events.filter(({ type }) => type === "content_block_start").map(({ content_block: block }) => block);

describe.each(bothTargets)("in front of $name", (target) => {
  it(
    "a key may come in either header, and must be one",
    withMessages(target, async ({ post }) => {
      for (const headers of [{}, { authorization: "Bearer sk-pro" }])
        expect((await post({}, { headers })).status).toBe(200);
      expect((await post({}, { key: null, headers: { authorization: "Bearer sk-pro" } })).status).toBe(200);
      const two = await messageRefusal(await post({}, { headers: { authorization: "Bearer sk-basic" } }));
      expect(two).toMatchObject({ status: 401, type: "authentication_error", shouldRetry: "false" });
      const none = await messageRefusal(await post({}, { key: null }));
      expect(none).toMatchObject({ status: 401, type: "authentication_error", shouldRetry: "false" });
    }),
  );

  it(
    "the path may have a query, and the request any version and betas",
    withMessages(target, async ({ post, upstream }) => {
      const sent = { "anthropic-version": "2026-10-21", "anthropic-beta": "claude-code-20250219,effort-2025-11-24" };
      for (const headers of [{}, sent]) {
        expect((await post({}, { path: "/messages?beta=true", headers })).status).toBe(200);
      }
      const { headers } = upstream.lastRequest;
      if (target === nativeTarget) expect(headers).toMatchObject(sent);
      else expect(Object.keys(headers).filter((name) => name.startsWith("anthropic"))).toEqual([]);
      expect(headers["x-api-key"] ?? headers["authorization"]).toContain("sk-upstream-secret");
    }),
  );

  it(
    "what Claude Code sends to every model is taken, and goes to those alone that know it",
    withMessages(target, async ({ post, upstream }) => {
      const own = {
        thinking: { type: "adaptive" },
        output_config: { effort: "high" },
        context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
        some_beta_to_come: true,
        messages: [
          { role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] },
          { role: "system", content: "Agents: none." },
        ],
      };
      expect((await post({ ...own, metadata: { user_id: "a device" } })).status).toBe(200);
      if (target === nativeTarget) {
        expect(upstream.lastRequest.json).toMatchObject(own);
        expect(upstream.lastRequest.json).not.toHaveProperty("metadata");
        return;
      }
      const { messages, model, max_tokens: cap, ...rest } = upstream.lastRequest.json;
      expect({ model, cap }).toEqual({ model: "upstream-small", cap: 50 });
      expect(messages).toEqual([
        { role: "user", content: "Hi" },
        { role: "system", content: "Agents: none." },
      ]);
      // The model is not said to reason, and its server may refuse to be asked.
      expect(rest).toEqual({});
    }),
  );

  it(
    "numbers that clients rely on are there, also where the server does not count",
    withMessages(target, async ({ post, upstream, events }) => {
      for (const mode of ["whole", "stream"] as const) {
        upstream.reply(target[mode]({ isUncounted: true }));
        const { usage: counted } = await readMessage(await post({ stream: mode === "stream" }));
        expect(counted).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
        await expect.poll(() => events.at(-1)?.usageSource).toBe("estimated");
        const { input, output } = events.at(-1)?.tokens ?? {};
        expect(counted).toMatchObject({ input_tokens: input, output_tokens: output });
      }
    }),
  );

  it.each(["web_search_20250305", "code_execution_20260120", "mcp_toolset"])(
    "a tool that the server would run is refused, not dropped: %s",
    (type) =>
      withMessages(target, async ({ post, upstream }) => {
        const refused = await messageRefusal(await post({ tools: [{ type, name: "x" }] }));
        expect(refused).toMatchObject({ status: 400, message: expect.stringContaining("tools.0: ") });
        expect(upstream.requests).toHaveLength(0);
      })(),
  );

  it(
    "a search of the request's own tools is left to the server that has one, and else to nobody",
    withMessages(target, async ({ post, upstream }) => {
      const search = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
      const own = { name: "f", input_schema: { type: "object" }, defer_loading: true };
      expect((await post({ tools: [search, own] })).status).toBe(200);
      const { tools } = upstream.lastRequest.json as { tools: unknown[] };
      if (target === nativeTarget) expect(tools).toEqual([search, own]);
      else expect(tools).toMatchObject([{ type: "function", function: { name: "f" } }]);
    }),
  );

  it(
    "a thread is not counted either: its prompt is not in the request",
    withMessages(target, async ({ post }) => {
      const members = { messages: [{ role: "user", content: "foo" }], thread: { type: "create" } };
      const counted = await post({ model: "acme/small", ...members }, { path: "/messages/count_tokens" });
      expect([counted.status, await counted.json()]).toMatchObject([
        400,
        { error: { details: { error_code: "thread_unsupported_request" } } },
      ]);
    }),
  );

  it(
    "counting tokens is quick work of the gateway's own, and only grows",
    withMessages(target, async ({ post, upstream }) => {
      const count = async (members: Record<string, unknown>) => {
        const messages = [{ role: "user", content: "foo" }];
        const counted = await post({ model: "acme/small", messages, ...members }, { path: "/messages/count_tokens" });
        return ((await counted.json()) as { input_tokens: number }).input_tokens;
      };
      const tool = { name: "f", description: "Does things.", input_schema: { type: "object", properties: {} } };
      const bare = await count({});
      const system = await count({ system: "Be brief. ".repeat(20) });
      const both = await count({ system: "Be brief. ".repeat(20), tools: [tool] });
      expect(system - bare).toBeGreaterThan(40);
      expect(both - system).toBeGreaterThan(10);
      expect(Math.abs(both - system - ((await count({ tools: [tool] })) - bare))).toBeLessThan(5);
      expect(upstream.requests).toHaveLength(0);
    }),
  );

  it(
    "an error behind the end is not the client's",
    withMessages(target, async ({ post, upstream, events }) => {
      const late = 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"late"}}\n\n';
      const pieces =
        target === nativeTarget ? nativeEvents().map(frame) : [...chatChunks("Hello world"), "data: [DONE]\n\n"];
      upstream.reply(eventStream([...pieces, late], { done: false }));
      const read = await readMessageEvents(await post({ stream: true }));
      expect(read.at(-1)?.type).toBe("message_stop");
      await expect.poll(() => events).toMatchObject([{ endReason: "completed", chargedMicro: 39 }]);
    }),
  );

  it(
    "one document in place of a stream is a stream",
    withMessages(target, async ({ post, upstream }) => {
      upstream.reply(target.whole());
      expect(await readMessage(await post({ stream: true }))).toMatchObject({
        content: [{ type: "text", text: "Hello world" }],
        stop_reason: "end_turn",
      });
    }),
  );
});

describe("in front of a chat completions target", () => {
  it(
    "thinking, text and calls are blocks of their own, in this order, without an empty one",
    withMessages(
      chatTarget,
      async ({ post, upstream }) => {
        const deltas = [
          { reasoning_content: "hm" },
          { content: "" },
          { content: "Let me" },
          call(0, ""),
          call(1, "{}"),
        ];
        upstream.reply(eventStream(chatChunks("", { deltas, finishReason: "stop" })));
        const response = await post({ stream: true, thinking: { type: "enabled", budget_tokens: 2000 } });
        const events = await readMessageEvents(response);
        expect(blocksOf(events)).toMatchObject([
          { type: "thinking" },
          { type: "text" },
          { type: "tool_use", id: "call_0", input: {} },
          { type: "tool_use", id: "call_1", input: {} },
        ]);
        expect(events.find(({ type }) => type === "message_delta")).toMatchObject({
          delta: { stop_reason: "tool_use" },
        });
      },
      reasoner,
    ),
  );

  it(
    "calls whose arguments come all at once, not at all, or under strange ids are whole",
    withMessages(chatTarget, async ({ post, upstream }) => {
      const deltas = [call(0, '{"a":1}', "functions.f:0"), call(1, null), call(2, "{}", "functions.f:0")];
      upstream.reply(eventStream(chatChunks("", { deltas, finishReason: "tool_calls" })));
      const message = await readMessage(await post({ stream: true }));
      const blocks = message["content"] as { id: string; input: unknown }[];
      expect(blocks.map(({ input }) => input)).toEqual([{ a: 1 }, {}, {}]);
      expect(new Set(blocks.map(({ id }) => id)).size).toBe(3);
      for (const { id } of blocks) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
      const [first] = blocks;
      const result = { type: "tool_result", tool_use_id: first?.id, content: "x" };
      await post({
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: [first] },
          { role: "user", content: [result] },
        ],
      });
      expect(upstream.lastRequest.json["messages"]).toMatchObject([
        {},
        { tool_calls: [{ id: "functions.f:0" }] },
        { tool_call_id: "functions.f:0" },
      ]);
    }),
  );

  it.each([
    ["in details", { prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 } }, [50, 40, 10]],
    ["as DeepSeek counts them", { prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 }, [60, 40, 0]],
  ])("tokens of a cache are counted once: %s", (_name, details, [input, read, written]) =>
    withMessages(chatTarget, async ({ post, upstream }) => {
      const counted = usage(details);
      for (const stream of [false, true]) {
        upstream.reply(
          stream ? eventStream(chatChunks("Hi", { usage: counted })) : wholeAnswer(chatAnswer({ usage: counted })),
        );
        expect((await readMessage(await post({ stream })))["usage"]).toMatchObject({
          input_tokens: input,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: written,
          output_tokens: 20,
        });
      }
    })(),
  );

  it(
    "thinking comes back to the upstream that has thought it",
    withMessages(
      chatTarget,
      async ({ post, upstream }) => {
        upstream.replyOnce(
          eventStream(
            chatChunks("", { deltas: [{ reasoning_content: "hm" }, call(0, "{}")], finishReason: "tool_calls" }),
          ),
        );
        const thinking = { type: "adaptive" };
        const { content } = await readMessage(await post({ stream: true, thinking }));
        const messages = [
          { role: "user", content: "Hi" },
          { role: "assistant", content },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "call_0", content: "x" }] },
        ];
        await post({ thinking, messages });
        expect(upstream.lastRequest.json["messages"]).toMatchObject([
          {},
          { reasoning_content: "hm" },
          { role: "tool" },
        ]);
      },
      reasoner,
    ),
  );

  it(
    "choices of tools and stop sequences say the same",
    withMessages(chatTarget, async ({ post, upstream }) => {
      const tools = [{ name: "f", input_schema: { $schema: "x", type: "object" }, defer_loading: true }];
      const choice = { type: "any", disable_parallel_tool_use: true };
      await post({ tools, tool_choice: choice, stop_sequences: ["a", "b", "c", "d", "e"] });
      expect(upstream.lastRequest.json).toMatchObject({
        tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }],
        tool_choice: "required",
        parallel_tool_calls: false,
        stop: ["a", "b", "c", "d"],
      });
      expect(upstream.lastRequest.body.toString()).not.toMatch(/\$schema|defer_loading/);
    }),
  );

  it.each([
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
    ["tool_calls", "end_turn"],
    ["stop", "end_turn"],
  ])("%s is %s", (finishReason, reason) =>
    withMessages(chatTarget, async ({ post, upstream }) => {
      upstream.reply(eventStream(chatChunks("Hi", { finishReason })));
      expect((await readMessage(await post({ stream: true })))["stop_reason"]).toBe(reason);
    })(),
  );
});

it(
  "a native target gets what changes the price, and who asks, where the model allows it alone",
  withMessages(
    nativeTarget,
    async ({ post, upstream }) => {
      const asked = { service_tier: "standard_only", speed: "fast", metadata: { user_id: "a device" } };
      expect((await post(asked)).status).toBe(200);
      for (const name of Object.keys(asked)) expect(upstream.lastRequest.json).not.toHaveProperty(name);
      expect((await post({ ...asked, model: "acme/open" })).status).toBe(200);
      expect(upstream.lastRequest.json).toMatchObject({ service_tier: "standard_only", metadata: asked.metadata });
      expect(upstream.lastRequest.json).not.toHaveProperty("speed");
    },
    { models: [smallModel, { ...smallModel, id: "acme/open", allowMembers: ["service_tier", "metadata"] }] },
  ),
);
