import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atCapacity, badGateway, GatewayError } from "../../../../src/errors/gateway-error.js";
import { frameEvents, type ResponseEvent } from "../../../../src/protocols/responses/response-events.js";
import { ChatToResponsesStream } from "../../../../src/protocols/translate/chat-to-responses-stream.js";
import { toResponse } from "../../../../src/protocols/translate/responses-client-sink.js";
import { readBrokenLadder, readLadder } from "../../../support/translate/event-ladder.js";
import {
  type Chunk,
  chunkOf,
  contextOf,
  end,
  eventsOf,
  finalResponse,
  thoughts,
} from "../../../support/translate/responses-samples.js";

const types = (events: readonly ResponseEvent[]) => events.map(({ type }) => type.replace("response.", ""));

function call(index: number, members: { id?: string; name?: string; args?: string | null; extra?: object }) {
  const { id, name, args, extra } = members;
  return {
    index,
    ...(id === undefined ? undefined : { id, type: "function" }),
    function: {
      ...(name === undefined ? undefined : { name }),
      ...(args === undefined ? undefined : { arguments: args }),
    },
    ...(extra === undefined ? undefined : { extra_content: extra }),
  };
}

const tools = [
  { type: "function", name: "get", parameters: { type: "object", properties: {} } },
  { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } },
  { type: "namespace", name: "agents", tools: [{ type: "function", name: "spawn" }] },
  { type: "tool_search", execution: "client", description: "d", parameters: { type: "object" } },
];

describe("the events of a stream", () => {
  it("are these for a text", () => {
    const events = eventsOf([
      chunkOf({ role: "assistant", content: "" }),
      chunkOf({ content: "Hel" }),
      chunkOf({ content: "lo" }),
      chunkOf({}, "stop"),
      { choices: [], usage: {} },
    ]);
    expect(types(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    const item_id = "msg_ig_1_0";
    const part = { type: "output_text", text: "Hello", annotations: [], logprobs: [] };
    const item = { id: item_id, type: "message", status: "completed", role: "assistant", content: [part] };
    const place = { item_id, output_index: 0, content_index: 0 };
    expect(events.slice(2, -1)).toEqual([
      {
        type: "response.output_item.added",
        sequence_number: 2,
        output_index: 0,
        item: { ...item, status: "in_progress", content: [] },
      },
      { type: "response.content_part.added", sequence_number: 3, ...place, part: { ...part, text: "" } },
      { type: "response.output_text.delta", sequence_number: 4, ...place, delta: "Hel", logprobs: [] },
      { type: "response.output_text.delta", sequence_number: 5, ...place, delta: "lo", logprobs: [] },
      { type: "response.output_text.done", sequence_number: 6, ...place, text: "Hello", logprobs: [] },
      { type: "response.content_part.done", sequence_number: 7, ...place, part },
      { type: "response.output_item.done", sequence_number: 8, output_index: 0, item },
    ]);
  });

  it("are these for a thought and two calls whose arguments come by turns", () => {
    const events = eventsOf([
      chunkOf({ reasoning_content: "Hm" }),
      chunkOf({
        tool_calls: [call(0, { id: "c0", name: "a", args: "" }), call(1, { id: "c1", name: "b", args: "{" })],
      }),
      chunkOf({ tool_calls: [call(0, { args: '{"x":1}' })] }),
      chunkOf({ tool_calls: [call(1, { args: "}" })] }, "tool_calls"),
    ]);
    expect(types(events).slice(2, -1)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.delta",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "function_call_arguments.done",
      "output_item.done",
    ]);
    const output = readLadder(events);
    expect(output.slice(1)).toEqual([
      {
        id: "fc_ig_1_1",
        type: "function_call",
        status: "completed",
        call_id: "c0",
        name: "a",
        arguments: '{"x":1}',
      },
      { id: "fc_ig_1_2", type: "function_call", status: "completed", call_id: "c1", name: "b", arguments: "{}" },
    ]);
    expect(finalResponse(events).output).toEqual(output);
  });

  it("restore what the client's tools are", () => {
    const wrapped = JSON.stringify({ input: '*** Begin\n"x"' });
    const events = eventsOf(
      [
        chunkOf({ tool_calls: [call(0, { id: "a", name: "apply_patch", args: wrapped.slice(0, 7) })] }),
        chunkOf({ tool_calls: [call(0, { args: wrapped.slice(7) })] }),
        chunkOf({ tool_calls: [call(1, { id: "b", name: "agents__spawn", args: "{}" })] }),
        chunkOf({ tool_calls: [call(2, { id: "c", name: "tool_search", args: '{"query":"q"}' })] }),
        chunkOf({ tool_calls: [call(3, { id: "d", name: "apply_patch", args: "raw" })] }, "tool_calls"),
      ],
      contextOf({ tools }),
    );
    const status = "completed";
    expect(readLadder(events)).toEqual([
      {
        id: "ctc_ig_1_0",
        type: "custom_tool_call",
        status,
        call_id: "a",
        name: "apply_patch",
        input: '*** Begin\n"x"',
      },
      {
        id: "fc_ig_1_1",
        type: "function_call",
        status,
        call_id: "b",
        name: "spawn",
        namespace: "agents",
        arguments: "{}",
      },
      {
        id: "tsc_ig_1_2",
        type: "tool_search_call",
        status,
        call_id: "c",
        execution: "client",
        arguments: { query: "q" },
      },
      { id: "ctc_ig_1_3", type: "custom_tool_call", status, call_id: "d", name: "apply_patch", input: "raw" },
    ]);
  });

  it("wait for a call's name, make up a missing id, and take arguments of null", () => {
    const events = eventsOf([
      chunkOf({ tool_calls: [call(0, { id: "late", args: '{"a"' })] }),
      chunkOf({ tool_calls: [call(0, { name: "get", args: ":1}" }), call(1, { name: "get", args: null })] }),
      chunkOf({ tool_calls: [call(2, { id: "late", name: "get" })] }, "tool_calls"),
    ]);
    expect(readLadder(events)).toMatchObject([
      { call_id: "late", arguments: '{"a":1}' },
      { call_id: "call_1_1", arguments: "{}" },
      { call_id: "late_2", arguments: "{}" },
    ]);
  });

  it("say that an answer was cut off, and in which item", () => {
    for (const [finish, reason] of [
      ["length", "max_output_tokens"],
      ["MAX_TOKENS", "max_output_tokens"],
      ["content_filter", "content_filter"],
    ] as const) {
      const events = eventsOf([
        chunkOf({ content: "All right" }),
        chunkOf({ tool_calls: [call(0, { id: "a", name: "get", args: "{}" })] }),
        chunkOf({ tool_calls: [call(1, { id: "b", name: "get", args: '{"x' })] }, finish),
      ]);
      expect(readLadder(events).map(({ status }) => status)).toEqual(["completed", "completed", "incomplete"]);
      expect(events.at(-1)?.type).toBe("response.incomplete");
      expect(finalResponse(events)).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason },
        completed_at: null,
        usage: { output_tokens: 20, output_tokens_details: { reasoning_tokens: 5 } },
      });
    }
  });

  it("are not without an answer, unless the model thought till it was cut off", () => {
    const nothing = eventsOf([chunkOf({ role: "assistant" }), chunkOf({}, "stop")]);
    expect(readLadder(nothing)).toMatchObject([{ type: "message", content: [{ type: "output_text", text: "" }] }]);
    const thought = eventsOf([chunkOf({ reasoning: "Hm" }), chunkOf({}, "stop")]);
    expect(readLadder(thought).map(({ type }) => type)).toEqual(["reasoning", "message"]);
    const cut = eventsOf([chunkOf({ reasoning: "Hm" }), chunkOf({}, "length")]);
    expect(readLadder(cut)).toMatchObject([{ type: "reasoning", status: "incomplete" }]);
    expect(finalResponse(cut).output).toHaveLength(1);
  });

  it("have citations and probabilities where they belong", () => {
    const logprobs = { content: [{ token: "a", logprob: -1, bytes: [97], top_logprobs: [] }] };
    const cited = {
      type: "url_citation",
      url_citation: { url: "https://a.test", title: "A", start_index: 0, end_index: 1 },
    };
    const chunks = [
      { choices: [{ index: 0, delta: { content: "a" }, logprobs, finish_reason: null }] },
      chunkOf({ annotations: [cited, { type: "other" }] }),
      chunkOf({}, "stop"),
    ];
    const events = eventsOf(chunks, contextOf({ include: ["message.output_text.logprobs"] }));
    const flat = { type: "url_citation", start_index: 0, end_index: 1, url: "https://a.test", title: "A" };
    expect(readLadder(events)).toMatchObject([
      { content: [{ text: "a", annotations: [flat], logprobs: logprobs.content }] },
    ]);
    expect(events.find(({ type }) => type.endsWith("annotation.added"))).toMatchObject({ annotation: flat });
    expect(readLadder(eventsOf(chunks))).toMatchObject([{ content: [{ logprobs: [] }] }]);
  });

  it("go on with the next number behind a keep-alive", () => {
    const stream = new ChatToResponsesStream(contextOf());
    const events = [...stream.begin(), ...stream.keepAlive(), ...stream.chunk(chunkOf({ content: "x" }))];
    expect(events.map((event) => event.sequence_number)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(events[2]).toEqual({ type: "keepalive", sequence_number: 2 });
  });

  it("are framed under their names, each on one line", () => {
    const event = { type: "response.output_text.delta", sequence_number: 4, delta: "a\nb" };
    expect(frameEvents([event, event]).toString()).toBe(
      `event: response.output_text.delta\ndata: ${JSON.stringify(event)}\n\n`.repeat(2),
    );
  });
});

describe("a stream that has not begun", () => {
  it("is kept open by nothing, and begins before it fails", () => {
    const stream = new ChatToResponsesStream(contextOf());
    expect(stream.keepAlive()).toEqual([]);
    expect(types(stream.fault(badGateway("x")))).toEqual(["created", "in_progress", "error", "failed"]);
  });
});

describe("a stream that fails", () => {
  const fail = (error: GatewayError) => {
    const stream = new ChatToResponsesStream(contextOf());
    const before = [...stream.begin(), ...stream.chunk(chunkOf({ content: "So f" }))];
    return { before, events: stream.fault(error) };
  };

  it("ends with two events that say the same, and with what came before", () => {
    const { before, events } = fail(badGateway("The model did not answer."));
    const message = "The model did not answer.";
    expect(events).toEqual([
      {
        type: "error",
        sequence_number: before.length,
        code: "server_error",
        message,
        param: null,
        error: { type: "server_error", code: "server_error", message, param: null },
      },
      {
        type: "response.failed",
        sequence_number: before.length + 1,
        response: expect.objectContaining({
          id: "resp_1",
          status: "failed",
          error: { code: "server_error", message },
          usage: null,
          output: [
            expect.objectContaining({ status: "incomplete", content: [expect.objectContaining({ text: "So f" })] }),
          ],
        }),
      },
    ]);
  });

  it("has its output in order, though calls stay open longer than what came behind them", () => {
    const stream = new ChatToResponsesStream(contextOf());
    const events = [
      ...stream.begin(),
      ...stream.chunk(chunkOf({ tool_calls: [call(0, { id: "a", name: "get", args: "{" })] })),
      ...stream.chunk(chunkOf({ content: "Hm" })),
      ...stream.chunk(chunkOf({ reasoning_content: "No." })),
      ...stream.fault(badGateway("x")),
    ];
    const ids = readBrokenLadder(events);
    expect(finalResponse(events).output.map(({ id }) => id)).toEqual(ids);
    expect(finalResponse(events).output).toMatchObject([
      { type: "function_call", status: "incomplete", arguments: "{" },
      { type: "message", status: "completed" },
      { type: "reasoning", status: "incomplete" },
    ]);
  });

  it.each([
    [atCapacity({}), "rate_limit_exceeded"],
    [new GatewayError("x", { status: 400, code: "context_length_exceeded" }), "context_length_exceeded"],
    [new GatewayError("x", { status: 400, code: "upstream_rejected" }), "invalid_prompt"],
    [
      new GatewayError("x", { status: 429, code: "week_limit_exceeded", type: "insufficient_quota" }),
      "insufficient_quota",
    ],
    [new GatewayError("x", { status: 504, code: "upstream_timeout", type: "server_error" }), "server_error"],
  ])("has a code by which clients know whether to try again: %s", (error, code) => {
    expect(fail(error).events[1]).toMatchObject({ response: { error: { code } } });
  });
});

describe("what a model wants back of its thoughts", () => {
  const include = ["reasoning.encrypted_content"];

  it("stands in the item that the client keeps, only if it asked", () => {
    const chunks = [chunkOf({ reasoning_content: "Hm" }), chunkOf({ content: "x" }, "stop")];
    const [item] = readLadder(eventsOf(chunks, contextOf({ include })));
    const encrypted = String(item?.["encrypted_content"]);
    expect(encrypted).toMatch(/^ig1\./);
    expect(thoughts.read(encrypted)).toMatchObject({ reasoning_content: "Hm" });
    expect(readLadder(eventsOf(chunks))[0]).not.toHaveProperty("encrypted_content");
  });

  it("comes in a last item where it came last", () => {
    const detail = { type: "reasoning.encrypted", index: 0, data: "sealed" };
    const chunks = [
      chunkOf({ content: "x" }),
      chunkOf({ reasoning_details: [detail] }),
      chunkOf(
        { tool_calls: [call(0, { id: "a", name: "get", args: "{}", extra: { google: { s: 1 } } })] },
        "tool_calls",
      ),
    ];
    expect(readLadder(eventsOf(chunks)).map(({ type }) => type)).toEqual(["message", "function_call"]);
    const output = readLadder(eventsOf(chunks, contextOf({ include })));
    expect(output.map(({ type }) => type)).toEqual(["message", "function_call", "reasoning"]);
    expect(output[2]?.["summary"]).toEqual([]);
  });
});

/** Answers as a model gives them: thoughts, text, a refusal, calls. */
const answers = fc.record({
  reasoning: fc.option(fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }), { nil: undefined }),
  content: fc.option(fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }), { nil: undefined }),
  refusal: fc.option(fc.string({ minLength: 1, maxLength: 8 }), { nil: undefined }),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom("get", "apply_patch", "agents__spawn", "tool_search", "made_up"),
      args: fc.oneof(
        fc.constant(""),
        fc.constant('{"input":"te\\"xt"}'),
        fc.json({ maxDepth: 1 }),
        fc.string({ maxLength: 6 }),
      ),
    }),
    { maxLength: 4 },
  ),
  finish: fc.constantFrom("stop", "tool_calls", "length", "content_filter", "eos"),
});

/** A text in pieces, some of them empty. */
function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; from < text.length; at++) {
    const size = at > 20 ? text.length : (sizes[at % sizes.length] ?? text.length);
    pieces.push(text.slice(from, from + size));
    from += size;
  }
  return pieces;
}

type Answer = typeof answers extends fc.Arbitrary<infer T> ? T : never;

function toChunks(
  { reasoning = "", content = "", refusal = "", calls, finish }: Answer,
  sizes: readonly number[],
): Chunk[] {
  const texts = [
    ...cut(reasoning, sizes).map((piece) => ({ reasoning_content: piece })),
    ...cut(content, sizes).map((piece) => ({ content: piece })),
    ...cut(refusal, sizes).map((piece) => ({ refusal: piece })),
  ];
  const starts = calls.map(({ name }, index) => ({ tool_calls: [call(index, { id: `c${index}`, name, args: "" })] }));
  const pieces = calls.map(({ args }, index) => cut(args, sizes).map((piece) => call(index, { args: piece })));
  const longest = Math.max(0, ...pieces.map(({ length }) => length));
  // The arguments of all calls come by turns.
  const turns = Array.from({ length: longest }, (_none, turn) => ({
    tool_calls: pieces.flatMap((list) => list[turn] ?? []),
  }));
  return [...texts, ...starts, ...turns].map((delta) => chunkOf(delta)).concat(chunkOf({}, finish));
}

function toCompletion({ reasoning, content, refusal, calls, finish }: Answer): Chunk {
  const message = {
    role: "assistant",
    content: content ?? null,
    refusal: refusal ?? null,
    ...(reasoning === undefined ? undefined : { reasoning_content: reasoning }),
    tool_calls: calls.map(({ name, args }, index) => ({
      id: `c${index}`,
      type: "function",
      function: { name, arguments: args },
    })),
  };
  return { choices: [{ index: 0, message, finish_reason: finish }] };
}

describe("however a completion is cut into chunks", () => {
  it("the events are well-formed, and end with what the whole completion is", () => {
    const include = fc.constantFrom([], ["reasoning.encrypted_content"]);
    fc.assert(
      fc.property(answers, fc.array(fc.nat(5), { maxLength: 6 }), include, (answer, sizes, included) => {
        const context = contextOf({ tools, include: included });
        const events = eventsOf(toChunks(answer, sizes), context);
        const output = readLadder(events);
        const response = finalResponse(events);
        expect(response.output).toEqual(output);
        expect(response).toEqual(toResponse(toCompletion(answer), context, end));
        expect(events.filter(({ type }) => /\.(completed|incomplete|failed)$/.test(type))).toHaveLength(1);
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 300) },
    );
  });
});
