import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { isGatewayError } from "../../../../src/errors/gateway-error.js";
import { StreamFault } from "../../../../src/errors/upstream-fault.js";
import { ChatCodec } from "../../../../src/protocols/chat/chat-codec.js";
import { answerContext } from "../../../support/answer-context.js";

function open(options: { includeUsage?: boolean } = {}): ChatCodec {
  return new ChatCodec(answerContext(), options.includeUsage ?? false);
}

function chunk(members: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_763_693_187,
    model: "upstream-small",
    choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null }],
    ...members,
  });
}

function choice(delta: Record<string, unknown>, finish: string | null = null, index: number | undefined = 0) {
  return { ...(index === undefined ? undefined : { index }), delta, finish_reason: finish };
}

function pushed(stream: ChatCodec, data: string, event?: string): Record<string, unknown> | undefined {
  const bytes = stream.event({ data, event });
  if (bytes === undefined) return undefined;
  const text = Buffer.from(bytes).toString();
  expect(text).toMatch(/^data: [^\n]*\n\n$/);
  return JSON.parse(text.slice("data: ".length)) as Record<string, unknown>;
}

function fault(run: () => unknown): StreamFault {
  try {
    run();
  } catch (error) {
    if (error instanceof StreamFault) return error;
    throw error;
  }
  throw new Error("There was no fault.");
}

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const finish = chunk({ choices: [choice({}, "stop")] });

describe("what is the same in all chunks", () => {
  it("names the client's model and leaves the rest of the text alone", () => {
    const text =
      '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"upstream","x":1.0,"big":12345678901234567890,"choices":[{"index":0,"delta":{"role":"assistant","content":"h\\u00e9"}}]}';
    const bytes = open().event({ data: text, event: undefined });
    expect(Buffer.from(bytes ?? []).toString()).toBe(`data: ${text.replace('"upstream"', '"acme/small"')}\n\n`);
  });

  it("keeps one id and one creation time, with OpenAI's prefix", () => {
    const stream = open();
    expect(pushed(stream, chunk({ id: "gen-1" }))).toMatchObject({ id: "chatcmpl-gen-1", created: 1_763_693_187 });
    expect(pushed(stream, chunk({ id: "gen-2", created: 5 }))).toMatchObject({
      id: "chatcmpl-gen-1",
      created: 1_763_693_187,
    });
  });

  it("fills in what is missing", () => {
    const sent = pushed(open(), JSON.stringify({ choices: [choice({ content: "hi" })] }));
    expect(sent).toMatchObject({
      id: "chatcmpl-own",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "acme/small",
    });
  });
});

describe("usage", () => {
  it("is stripped from every chunk when the client did not ask", () => {
    const stream = open();
    expect(pushed(stream, chunk({ usage: null }))).not.toHaveProperty("usage");
    expect(pushed(stream, chunk({ usage }))).not.toHaveProperty("usage");
    expect(pushed(stream, chunk({ choices: [], usage }))).toBeUndefined();
    expect(stream.progress.tokens).toEqual({ input: 3, cachedInput: 0, output: 3, reasoning: 0 });
  });

  it("is passed when the client asked", () => {
    const stream = open({ includeUsage: true });
    expect(pushed(stream, chunk({ usage: null }))).toHaveProperty("usage", null);
    pushed(stream, finish);
    expect(pushed(stream, chunk({ choices: [], usage }))).toMatchObject({ choices: [], usage });
    expect(Buffer.from(stream.end()).toString()).toBe("data: [DONE]\n\n");
  });

  it("comes once, for clients that add up all that they get", () => {
    const stream = open({ includeUsage: true });
    const some = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
    // Gemini counts in each chunk, Groq in the last one.
    expect(pushed(stream, chunk({ usage: some }))).toHaveProperty("usage", null);
    const ended = pushed(stream, chunk({ choices: [choice({}, "stop")], usage, x_groq: { usage } }));
    expect(ended).toHaveProperty("usage", null);
    expect(pushed(stream, chunk({ choices: [], usage }))).toMatchObject({ choices: [], usage });
    expect(pushed(stream, chunk({ choices: [], usage }))).toBeUndefined();
    expect(Buffer.from(stream.end()).toString()).toBe("data: [DONE]\n\n");
  });

  it("comes in a chunk of its own even when the upstream sent it with the finish", () => {
    const stream = open({ includeUsage: true });
    pushed(stream, chunk({ choices: [choice({ role: "assistant" }, "stop")], usage: { ...usage, extra: 1 } }));
    const [last, done] = Buffer.from(stream.end()).toString().split("\n\n");
    expect(JSON.parse(last?.slice(6) ?? "")).toMatchObject({
      id: "chatcmpl-1",
      choices: [],
      usage: { ...usage, extra: 1 },
    });
    expect(done).toBe("data: [DONE]");
  });

  it("is the estimate when the upstream sent none", () => {
    const stream = open({ includeUsage: true });
    pushed(stream, chunk({ choices: [choice({ content: "123456789" }, "stop")] }));
    const [last] = Buffer.from(stream.end()).toString().split("\n\n");
    expect(JSON.parse(last?.slice(6) ?? "")).toMatchObject({
      usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 },
    });
    expect(stream.progress.estimated).toBe(true);
  });

  it("takes the last of cumulative reports, and Groq's own place", () => {
    const stream = open();
    pushed(stream, chunk({ usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } }));
    pushed(stream, chunk({ choices: [choice({}, "stop")], x_groq: { usage } }));
    expect(stream.progress.tokens.output).toBe(2);
  });

  it("does not fall below what was seen while the stream is not complete", () => {
    const stream = open();
    pushed(stream, chunk({ usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } }));
    pushed(stream, chunk({ choices: [choice({ content: "x".repeat(30) })] }));
    expect(stream.progress.tokens).toMatchObject({ input: 3, output: 21 });
  });

  it("gives a usage chunk without choices the array that clients iterate over", () => {
    const stream = open({ includeUsage: true });
    pushed(stream, finish);
    expect(pushed(stream, JSON.stringify({ id: "x", usage }))).toMatchObject({ choices: [], usage });
  });
});

describe("repairs", () => {
  it("opens each choice with the role, once", () => {
    const stream = open();
    expect(pushed(stream, chunk({ choices: [choice({ role: "", content: "a" })] }))).toMatchObject({
      choices: [{ delta: { role: "assistant", content: "a" } }],
    });
    expect(pushed(stream, chunk({ choices: [choice({ role: "", content: "b" })] }))).toMatchObject({
      choices: [{ delta: { content: "b" } }],
    });
    expect(pushed(stream, chunk({ choices: [choice({ content: "c" }, null, 1)] }))).toMatchObject({
      choices: [{ index: 1, delta: { role: "assistant", content: "c" } }],
    });
  });

  it("adds index and delta where they are missing", () => {
    expect(pushed(open(), chunk({ choices: [{ finish_reason: "stop" }] }))).toMatchObject({
      choices: [{ index: 0, delta: { role: "assistant" } }],
    });
  });

  it("takes out an error of null", () => {
    expect(pushed(open(), chunk({ error: null }))).not.toHaveProperty("error");
  });

  it("drops what is no chunk, and passes choices of nobody", () => {
    const stream = open();
    expect(pushed(stream, '{"type":"ping"}')).toBeUndefined();
    expect(pushed(stream, "")).toBeUndefined();
    expect(pushed(stream, chunk({ choices: [], prompt_filter_results: [] }))).toMatchObject({
      prompt_filter_results: [],
    });
  });

  it("completes the first delta of each tool call", () => {
    const stream = open();
    const first = pushed(stream, chunk({ choices: [choice({ tool_calls: [{ id: "a", function: { name: "f" } }] })] }));
    expect(first).toMatchObject({
      choices: [
        { delta: { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }] } },
      ],
    });
    const second = pushed(
      stream,
      chunk({
        choices: [choice({ tool_calls: [{ id: "b", type: "function", function: { name: "g", arguments: "{}" } }] })],
      }),
    );
    expect(second).toMatchObject({ choices: [{ delta: { tool_calls: [{ index: 1, id: "b" }] } }] });
    const more = pushed(stream, chunk({ choices: [choice({ tool_calls: [{ function: { arguments: "}" } }] })] }));
    expect(more).toMatchObject({ choices: [{ delta: { tool_calls: [{ index: 1, function: { arguments: "}" } }] } }] });
  });

  it("makes an id for a tool call without one", () => {
    const sent = pushed(
      open(),
      chunk({ choices: [choice({ tool_calls: [{ index: 0, function: { name: "f", arguments: "" } }] })] }),
    );
    expect(JSON.stringify(sent)).toMatch(/"id":"call_[0-9a-f]{32}"/);
  });

  it("does not touch complete tool calls", () => {
    const text = chunk({
      choices: [
        choice({
          role: "assistant",
          tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }],
        }),
      ],
    });
    expect(Buffer.from(open().event({ data: text, event: undefined }) ?? []).toString()).toBe(
      `data: ${text.replace("upstream-small", "acme/small")}\n\n`,
    );
  });

  it("puts a chunk that came in several data lines on one", () => {
    const stream = open();
    expect(pushed(stream, JSON.stringify(JSON.parse(chunk()), null, 2))).toMatchObject({ model: "acme/small" });
  });
});

describe("the end", () => {
  it("needs a finish reason for every choice that began", () => {
    const stream = open();
    pushed(stream, chunk({ choices: [choice({ content: "a" }), choice({ content: "b" }, null, 1)] }));
    pushed(stream, finish);
    stream.event({ data: "[DONE]", event: undefined });
    expect(stream.progress.isDone).toBe(true);
    expect(fault(() => stream.end()).reason).toBe("incomplete");
  });

  it("is a fault when nothing came", () => {
    expect(fault(() => open().end()).reason).toBe("incomplete");
  });

  it("ignores everything after [DONE]", () => {
    const stream = open();
    pushed(stream, finish);
    expect(pushed(stream, " [DONE] ")).toBeUndefined();
    expect(pushed(stream, chunk())).toBeUndefined();
    expect(stream.progress.tokens.output).toBe(0);
  });

  it("does not take an empty finish reason for one", () => {
    const stream = open();
    expect(pushed(stream, chunk({ choices: [choice({ content: "a" }, "")] }))).toMatchObject({
      choices: [{ finish_reason: null }],
    });
    expect(stream.progress.isComplete).toBe(false);
  });
});

describe("faults", () => {
  it.each(["{", "not json", '"text"', "[1]", '{"choices":[1]}'])("calls %j garbage", (data) => {
    expect(fault(() => open().event({ data, event: undefined })).reason).toBe("garbage");
  });

  it.each([
    [chunk({ error: { message: "boom" } }), undefined],
    ['{"error":"boom"}', undefined],
    ['{"message":"boom"}', "error"],
  ])("recognises the error %s", (data, event) => {
    const run = () => open().event({ data, event });
    expect(run).toThrow(expect.toSatisfy(isGatewayError));
    expect(run).toThrow(expect.objectContaining({ status: 502 }));
  });
});

describe("what counts as output", () => {
  it("is text, reasoning, refusals, tool calls and a finish, but not the role", () => {
    const stream = open();
    pushed(stream, chunk({ choices: [choice({ role: "assistant", content: "" })] }));
    expect(stream.progress.hasOutput).toBe(false);
    pushed(stream, chunk({ choices: [choice({ reasoning_content: "abc" })] }));
    expect(stream.progress.hasOutput).toBe(true);
    pushed(
      stream,
      chunk({
        choices: [
          choice({
            refusal: "def",
            tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "", arguments: "ghi" } }],
          }),
        ],
      }),
    );
    expect(stream.progress.tokens.output).toBe(6);
  });
});

describe("an upstream that begins ever new answers", () => {
  const answers = (count: number, finish: string | null = null) =>
    chunk({ choices: Array.from({ length: count }, (_, index) => choice({ content: "x" }, finish, index)) });

  it("is at fault when there are more than anybody can ask for", () => {
    const stream = open();
    stream.event({ data: answers(128), event: undefined });
    expect(
      fault(() => stream.event({ data: chunk({ choices: [choice({}, null, 128)] }), event: undefined })).reason,
    ).toBe("garbage");
    expect(stream.progress.tokens.output).toBe(128);
  });

  it("is asked for when it is tool calls", () => {
    const calls = (from: number, count: number) => {
      const tool_calls = Array.from({ length: count }, (_, offset) => ({ index: from + offset, id: "a" }));
      return chunk({ choices: [choice({ tool_calls })] });
    };
    const stream = open();
    stream.event({ data: calls(0, 1024), event: undefined });
    stream.event({ data: calls(0, 1024), event: undefined });
    expect(() => stream.event({ data: calls(1024, 1), event: undefined })).toThrow(
      expect.objectContaining({ status: 400, code: "answer_too_large" }),
    );
  });

  it("has answered when each has come to its end, however often that was said of one", () => {
    const stream = open();
    stream.event({ data: answers(128), event: undefined });
    for (let count = 0; count < 200; count++) stream.event({ data: answers(1, "stop"), event: undefined });
    expect(stream.progress.isComplete).toBe(false);
    stream.event({ data: answers(127, "stop"), event: undefined });
    expect(stream.progress.isComplete).toBe(false);
    stream.event({ data: answers(128, "length"), event: undefined });
    expect(stream.progress.isComplete).toBe(true);
    stream.event({ data: chunk({ choices: [], usage }), event: undefined });
    expect(stream.progress.tokens.output).toBe(2);
  });
});
