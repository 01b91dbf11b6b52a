import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { badGateway } from "../../../../src/errors/gateway-error.js";
import { readOwnSignature } from "../../../../src/protocols/messages/own-thinking.js";
import { ChatToMessagesStream } from "../../../../src/protocols/translate/chat-to-messages-stream.js";
import { MessageToolNames, type MessageTranslation } from "../../../../src/protocols/translate/message-translation.js";
import { wholeOutgoing } from "../../../../src/wire/slices.js";
import { thoughtsOf } from "../../../support/own-seal.js";
import {
  called,
  chunk,
  completions,
  cut,
  head,
  type Json,
  translation,
  usage,
} from "../../../support/translate/chat-samples.js";
import { accumulated, eventsIn } from "../../../support/translate/message-events.js";
import { chatToMessage } from "../../../support/translate/whole-translations.js";

function streamed(chunks: readonly Json[], own: Partial<MessageTranslation> = {}) {
  const stream = new ChatToMessagesStream(head, { ...translation, ...own });
  const bytes = [stream.begin(), ...chunks.map((each) => stream.chunk(structuredClone(each))), stream.end(usage)];
  return eventsIn(...bytes.map(wholeOutgoing));
}

const message = (chunks: readonly Json[], own: Partial<MessageTranslation> = {}) => accumulated(streamed(chunks, own));
const content = (...chunks: Json[]) => message(chunks)["content"] as Json[];
const types = (events: readonly Json[]) => events.map(({ type }) => type);

describe("a stream of chat completions as one of Messages", () => {
  it("has the events of one turn in their order", () => {
    const events = streamed([
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "hm" }),
      chunk({ content: "Let me look." }),
      chunk(called(0, "a", "Bash", "")),
      chunk(called(0, undefined, undefined, '{"command":')),
      chunk(called(0, undefined, undefined, '"ls"}')),
      chunk(called(1, "b", "Read", "{}")),
      chunk({}, "tool_calls"),
    ]);
    expect(types(events).map((type) => String(type).replace("content_block_", ""))).toEqual([
      ...["message_start", "start", "delta", "delta", "stop", "start", "delta", "stop"],
      ...["start", "delta", "delta", "stop", "start", "delta", "stop", "message_delta", "message_stop"],
    ]);
    expect(events[0]?.["message"]).toEqual({
      id: "msg_own1",
      type: "message",
      role: "assistant",
      model: "acme/large",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
    });
    expect(events.at(-2)).toEqual({
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { input_tokens: 60, cache_creation_input_tokens: 0, cache_read_input_tokens: 40, output_tokens: 20 },
    });
    expect(accumulated(events)["content"]).toMatchObject([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: "a", name: "Bash", input: { command: "ls" } },
      { type: "tool_use", id: "b", name: "Read", input: {} },
    ]);
  });

  it("amounts to the whole message, however it was cut", () => {
    fc.assert(
      fc.property(completions, fc.array(fc.nat(100), { minLength: 1, maxLength: 20 }), (completion, cuts) => {
        const whole = JSON.parse(chatToMessage(structuredClone(completion), head, translation, usage));
        expect(message(cut(completion, cuts))).toEqual(whole);
      }),
    );
  });

  it("has every member for clients of a version that has", () => {
    const completion = { choices: [{ index: 0, message: { content: "x" }, finish_reason: "stop" }] };
    const whole = (version?: string) => JSON.parse(chatToMessage(completion, { ...head, version }, translation, usage));
    const nulls = { container: null, stop_details: null, diagnostics: null };
    expect(whole("2026-10-21")).toMatchObject({ ...nulls, usage: { cache_creation: null, service_tier: null } });
    for (const version of [undefined, "2023-06-01", "x"]) expect(whole(version)).not.toHaveProperty("container");
    const stream = new ChatToMessagesStream({ ...head, version: "2026-10-21" }, translation);
    const events = eventsIn(
      wholeOutgoing(stream.chunk(chunk({ content: "x" }, "stop"))),
      wholeOutgoing(stream.end(usage)),
    );
    expect(accumulated(events)).toEqual(whole("2026-10-21"));
    expect(events.at(-2)).toMatchObject({ delta: { container: null, stop_details: null } });
  });

  it("writes no event twice and none where there is nothing", () => {
    const stream = new ChatToMessagesStream(head, translation);
    expect(stream.chunk({ choices: [] })).toHaveLength(0);
    // Its client waits for the status until then.
    expect(types(eventsIn(wholeOutgoing(stream.chunk(chunk({ role: "assistant", content: "" })))))).toEqual([
      "message_start",
    ]);
    const first = eventsIn(wholeOutgoing(stream.chunk(chunk({ content: "x" }))));
    expect(types(first)).toEqual(["content_block_start", "content_block_delta"]);
    expect(stream.begin()).toHaveLength(0);
    expect(Buffer.from(stream.keepAlive).toString()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });
});

describe("blocks", () => {
  it("open for no empty text, and lose no first token", () => {
    expect(
      content(
        chunk({ content: "" }),
        chunk({ reasoning: "a" }),
        chunk({ content: "b" }),
        chunk({ content: "c" }, "stop"),
      ),
    ).toMatchObject([
      { type: "thinking", thinking: "a" },
      { type: "text", text: "bc" },
    ]);
    expect(
      content(
        chunk({ content: "", tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] }, "stop"),
      ),
    ).toEqual([{ type: "tool_use", id: "a", name: "f", input: {} }]);
  });

  it("take thinking and text of one chunk apart", () => {
    expect(
      content(chunk({ reasoning_content: "a", content: "b" }), chunk({ reasoning_content: "c" }, "stop")),
    ).toMatchObject([{ thinking: "a" }, { text: "b" }, { thinking: "c" }]);
  });

  it("are calls that came in one chunk, without arguments, without an index, or in the former way", () => {
    const both = {
      tool_calls: [
        { index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } },
        { index: 1, id: "b", function: { name: "g", arguments: null } },
      ],
    };
    expect(content(chunk(both), chunk({}, "tool_calls"))).toEqual([
      { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
      { type: "tool_use", id: "b", name: "g", input: {} },
    ]);
    expect(content(chunk({ tool_calls: [{ function: { name: "f", arguments: "{}" } }] }, "stop"))).toEqual([
      { type: "tool_use", id: "toolu_own1_0", name: "f", input: {} },
    ]);
    expect(
      content(
        chunk({ function_call: { name: "f", arguments: '{"a"' } }),
        chunk({ function_call: { arguments: ":1}" } }, "function_call"),
      ),
    ).toMatchObject([{ type: "tool_use", name: "f", input: { a: 1 } }]);
  });

  it("wait for a call whose arguments are not complete", () => {
    const mixed = [
      chunk(called(0, "a", "f", '{"x":')),
      chunk(called(1, "b", "g", '{"y":')),
      chunk({ content: "between" }),
      chunk(called(0, undefined, undefined, "1}")),
      chunk(called(1, undefined, undefined, "2}")),
      chunk({}, "tool_calls"),
    ];
    expect(content(...mixed)).toEqual([
      { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
      { type: "tool_use", id: "b", name: "g", input: { y: 2 } },
      { type: "text", text: "between" },
    ]);
  });

  it("wait for a call that has no name yet, thinking with what is under it", () => {
    const signed = { type: "reasoning.text", index: 0, text: "hm", signature: "s" };
    const [call, thinking, text] = content(
      chunk(called(0, "a", undefined, "{}")),
      chunk({ reasoning_content: "h" }),
      chunk({ reasoning_content: "m", reasoning_details: [signed] }),
      chunk({ content: "so" }),
      chunk(called(0, undefined, "f", "")),
      chunk({}, "tool_calls"),
    );
    expect(call).toEqual({ type: "tool_use", id: "a", name: "f", input: {} });
    expect(thinking).toMatchObject({ type: "thinking", thinking: "hm" });
    expect(readOwnSignature(thoughtsOf("t1"), thinking?.["signature"])).toMatchObject({ details: [signed] });
    expect(text).toEqual({ type: "text", text: "so" });
    const nameless = new ChatToMessagesStream(head, translation);
    nameless.chunk(chunk(called(0, "a", undefined, "{}"), "tool_calls"));
    expect(() => nameless.end(usage)).toThrow(expect.objectContaining({ reason: "garbage" }));
  });

  it("are those of the first answer, until its end", () => {
    const both = (index: number, words: string, finish: string | null = null) => ({
      choices: [{ index, delta: { content: words }, finish_reason: finish }],
    });
    const found = message([both(1, "no"), both(0, "yes", "length"), both(1, "no", "stop"), both(0, "", "stop")]);
    expect(found).toMatchObject({ content: [{ type: "text", text: "yes" }], stop_reason: "max_tokens" });
  });

  it("cost no more than in proportion to what comes, with a call that waits", () => {
    const run = (count: number) => {
      const stream = new ChatToMessagesStream(head, translation);
      for (const index of [0, 1]) stream.chunk(chunk(called(index, `id${index}`, "f", index === 0 ? '{"x":"' : "")));
      const start = process.cpuUsage();
      for (let at = 0; at < count; at++) stream.chunk(chunk(called(0, undefined, undefined, "abc}")));
      return process.cpuUsage(start).user / count;
    };
    run(1000);
    const few = Math.min(run(2000), run(2000));
    expect(Math.min(run(20_000), run(20_000))).toBeLessThan(5 * few + 20);
  });

  it("are complete in any mixture of calls", () => {
    const inputs = fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, maxKeys: 2 }), {
      minLength: 2,
      maxLength: 4,
    });
    fc.assert(
      fc.property(inputs, fc.infiniteStream(fc.nat(9)), (all, random) => {
        const texts = all.map((input) => JSON.stringify(input));
        const left = [...texts];
        const chunks = all.map((_, index) => chunk(called(index, `id${index}`, `f${index}`, "")));
        while (left.some((text) => text !== "")) {
          const index = (random.next().value ?? 0) % left.length;
          const text = left[index] ?? "";
          const length = 1 + (random.next().value ?? 0);
          if (text !== "") chunks.push(chunk(called(index, undefined, undefined, text.slice(0, length))));
          left[index] = text.slice(length);
        }
        const found = content(...chunks, chunk({}, "tool_calls"));
        const sorted = found.toSorted((one, other) => String(one["id"]).localeCompare(String(other["id"])));
        expect(sorted.map(({ input }) => input)).toEqual(texts.map((text) => JSON.parse(text)));
      }),
    );
  });

  it("have ids that Anthropic's clients take, each of its own", () => {
    const [one, two, three] = content(
      chunk(called(0, "functions.Bash:0", "f", "{}")),
      chunk(called(1, "same", "f", "{}")),
      chunk(called(2, "same", "f", "{}")),
      chunk({}, "tool_calls"),
    );
    expect(one?.["id"]).toMatch(/^toolu_x[A-Za-z0-9_-]+$/);
    expect([two?.["id"], three?.["id"]]).toEqual(["same", "same_2"]);
  });

  it("have the client's names for its tools", () => {
    const toolNames = new MessageToolNames();
    const name = `mcp__${"long".repeat(20)}`;
    const short = toolNames.toChat(name);
    expect(short).toHaveLength(64);
    expect(message([chunk(called(0, "a", short, "{}"), "stop")], { toolNames })["content"]).toMatchObject([{ name }]);
  });
});

describe("thinking", () => {
  const details = (...items: Json[]) => chunk({ reasoning_details: items });

  it("is signed with what the upstream takes back", () => {
    const [thinking] = content(
      chunk({ reasoning: "a", reasoning_details: [{ type: "reasoning.text", index: 0, text: "a" }] }),
      chunk({ reasoning: "b", reasoning_details: [{ type: "reasoning.text", index: 0, text: "b" }] }),
      details({ type: "reasoning.text", index: 0, signature: "sig" }),
      details({ type: "reasoning.text", index: 1, text: "", signature: "other" }),
      chunk({ content: "so" }, "stop"),
    );
    expect(thinking).toMatchObject({ type: "thinking", thinking: "ab" });
    expect(readOwnSignature(thoughtsOf("t1"), thinking?.["signature"])).toMatchObject({
      details: [
        { type: "reasoning.text", index: 0, text: "ab", signature: "sig" },
        { type: "reasoning.text", index: 1, text: "", signature: "other" },
      ],
      text: undefined,
    });
  });

  it("is shown to those alone that have asked for it", () => {
    const chunks = [chunk({ reasoning_content: "a" }), chunk({ content: "b" }, "stop")];
    expect(message(chunks, { thinking: "hidden" })["content"]).toEqual([{ type: "text", text: "b" }]);
    const [thinking] = message(chunks, { thinking: "omitted" })["content"] as Json[];
    expect(thinking?.["thinking"]).toBe("");
    expect(readOwnSignature(thoughtsOf("t1"), thinking?.["signature"])).toMatchObject({ text: "a" });
  });

  it("carries what the upstream wants back with a call, also where none is shown", () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const call = { index: 0, id: "a", extra_content, function: { name: "f", arguments: "{}" } };
    const found = message([chunk({ tool_calls: [call] }, "tool_calls")], { thinking: "hidden" })["content"] as Json[];
    expect(found.map(({ type }) => type)).toEqual(["thinking", "tool_use"]);
    expect(readOwnSignature(thoughtsOf("t1"), found[0]?.["signature"])).toMatchObject({ extra: extra_content });
  });

  it("may be nothing but what nobody can read", () => {
    expect(content(details({ type: "reasoning.encrypted", data: "x" }), chunk({ content: "b" }, "stop"))).toMatchObject(
      [
        { type: "thinking", thinking: "", signature: expect.stringMatching(/^ig1\./) },
        { type: "text", text: "b" },
      ],
    );
  });
});

describe("the end", () => {
  const stop = (last: Json, ...before: Json[]) => message([...before, last]);

  it.each([
    [chunk({ content: "x" }, "stop"), "end_turn"],
    [chunk({ content: "x" }, "eos"), "end_turn"],
    [chunk({ content: "x" }, "length"), "max_tokens"],
    [chunk({ content: "x" }, "content_filter"), "refusal"],
    [chunk(called(0, "a", "f", "{}"), "stop"), "tool_use"],
    [chunk({ content: "x" }, "stop", { stop_reason: "END" }), "stop_sequence"],
    [chunk({ content: "x" }, "stop", { matched_stop: 128_009 }), "end_turn"],
    [chunk({ content: "x" }, "stop", { matched_stop: "OTHER" }), "end_turn"],
  ])("says why: %j is %s", (last, reason) => {
    expect(stop(last)).toMatchObject({ stop_reason: reason, stop_sequence: reason === "stop_sequence" ? "END" : null });
  });

  it("says what the model refuses", () => {
    expect(stop(chunk({ refusal: "I will not." }, "stop"))).toMatchObject({
      content: [{ type: "text", text: "I will not." }],
      stop_reason: "refusal",
      stop_details: { type: "refusal", category: null, explanation: "I will not." },
    });
    expect(stop(chunk({ content: "Yes.", refusal: "" }, "stop"))).toMatchObject({ stop_reason: "end_turn" });
  });

  it("is a fault without a reason, and for a call that goes on behind its end", () => {
    const stream = new ChatToMessagesStream(head, translation);
    stream.chunk(chunk({ content: "x" }));
    expect(() => stream.end(usage)).toThrow(expect.objectContaining({ name: "StreamFault", reason: "incomplete" }));
    const late = new ChatToMessagesStream(head, translation);
    late.chunk(chunk(called(0, "a", "f", "{}")));
    late.chunk(chunk({ content: "x" }));
    expect(() => late.chunk(chunk(called(0, undefined, undefined, "{}")))).toThrow(
      expect.objectContaining({ reason: "garbage" }),
    );
  });

  it("may be an error, behind which nothing comes, and which never comes behind the end", () => {
    const stream = new ChatToMessagesStream(head, translation);
    stream.chunk(chunk({ content: "x" }));
    expect(eventsIn(stream.fault(badGateway("No.")))).toEqual([
      { type: "error", error: { type: "api_error", message: "No.", code: "bad_gateway" }, request_id: "req_1" },
    ]);
    expect(stream.fault(badGateway("No."))).toHaveLength(0);
    const ended = new ChatToMessagesStream(head, translation);
    ended.chunk(chunk({ content: "x" }, "stop"));
    ended.end(usage);
    expect(ended.fault(badGateway("late"))).toHaveLength(0);
  });

  it("keeps arguments that are none as text in a whole message", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: "not json" } };
    const completion = {
      choices: [{ index: 0, message: { content: null, tool_calls: [call] }, finish_reason: "stop" }],
    };
    const whole = JSON.parse(chatToMessage(completion, head, translation, usage));
    expect(whole).toMatchObject({ stop_reason: "tool_use", content: [{ input: { _raw: "not json" } }] });
  });

  it("keeps numbers of more digits than a double has", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: '{"n":12345678901234567890}' } };
    const completion = {
      choices: [{ index: 0, message: { content: null, tool_calls: [call] }, finish_reason: "stop" }],
    };
    expect(chatToMessage(completion, head, translation, usage)).toContain('"input":{"n":12345678901234567890}');
  });
});
