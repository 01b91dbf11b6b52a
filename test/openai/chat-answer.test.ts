import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerToChunk } from "../../src/openai/answer-to-chunk.js";
import { toChatAnswer } from "../../src/openai/chat-answer.js";
import { readPlainAnswer } from "../../src/openai/plain-answer.js";
import { isRecord } from "../../src/openai/usage.js";

const context = { model: "acme/small", promptTokens: 7, created: 1_700_000_000, completionId: "chatcmpl-own" };

/** Whatever can be read the short way must come out as it does the long way. */
function answer(text: string) {
  const bytes = Buffer.from(text);
  const read = toChatAnswer(bytes, JSON.parse(text), context);
  const plain = readPlainAnswer(bytes, context);
  if (plain !== undefined) {
    // The long way drops the space around an object's members.
    expect({ ...plain, body: JSON.parse(String(plain.body)) }).toEqual({
      ...read,
      body: JSON.parse(String(read?.body)),
    });
  }
  return read;
}

function sent(value: object): Record<string, unknown> {
  return JSON.parse(Buffer.from(answer(JSON.stringify(value))?.body ?? []).toString()) as Record<string, unknown>;
}

const message = { role: "assistant", content: "hi" };
const choices = [{ index: 0, message, finish_reason: "stop" }];
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const complete = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices, usage };

describe("toChatAnswer", () => {
  it("changes the model and leaves the rest of the text alone", () => {
    const text =
      '{ "id":"chatcmpl-1", "object":"chat.completion","created":1,"model":"m","x":[1.0,12345678901234567890],"choices":[{"index":0,"message":{"role":"assistant","content":"h\\u00e9"},"finish_reason":"stop","logprobs":null}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}';
    const expected = text.replace("{ ", "{").replace('"m"', '"acme/small"');
    expect(Buffer.from(answer(text)?.body ?? []).toString()).toBe(expected);
    const short = readPlainAnswer(Buffer.from(text), context);
    expect(String(short?.body)).toBe(text.replace('"m"', '"acme/small"'));
  });

  it("comes to the same the short way, whatever the answer looks like", () => {
    const strange = fc.constantFrom<unknown>(null, "", "chatcmpl-", 0, 1.5, -1, 1e300, [], {}, "assistant", true, "é");
    const nested = fc.oneof(strange, fc.jsonValue({ maxDepth: 1 }));
    const path = fc.constantFrom(
      ...["id", "object", "created", "model", "choices", "usage", "error", "other"].map((name) => [name]),
      ...["index", "message", "finish_reason", "other"].map((name) => ["choices", "0", name]),
      ...["role", "content", "tool_calls", "other"].map((name) => ["choices", "0", "message", name]),
      ...["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details"].map((name) => ["usage", name]),
    );
    const change = fc.tuple(path, fc.option(nested, { nil: undefined }));
    let short = 0;
    fc.assert(
      fc.property(fc.array(change, { maxLength: 2 }), fc.constantFrom(0, 2), (changes, indent) => {
        const value: Record<string, unknown> = {
          id: "chatcmpl-1",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, message: { role: "assistant", content: "hé" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
        };
        for (const [names, changed] of changes) {
          let parent: unknown = value;
          for (const name of names.slice(0, -1))
            parent = isRecord(parent) || Array.isArray(parent) ? Reflect.get(parent, name) : undefined;
          if (isRecord(parent)) parent[names.at(-1) as string] = changed;
        }
        const text = JSON.stringify(value, null, indent);
        if (readPlainAnswer(Buffer.from(text), context) !== undefined) short++;
        answer(text);
      }),
      { numRuns: 500 },
    );
    expect(short).toBeGreaterThan(50);
  });

  it("is not fooled by a member that comes twice, or is spelled with escapes", () => {
    for (const extra of ['"model":"n"', '"\\u006dodel":"n"', '"__proto__":1', '"x":1e999']) {
      const text = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m",${extra},"choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`;
      expect(readPlainAnswer(Buffer.from(text), context)).toBeUndefined();
    }
  });

  it("fills in what is missing", () => {
    expect(
      sent({ choices: [{ message: { tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] } }] }),
    ).toEqual({
      id: "chatcmpl-own",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "acme/small",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
    });
  });

  it("gives ids OpenAI's prefix", () => {
    expect(sent({ ...complete, id: "gen-1" })).toMatchObject({ id: "chatcmpl-gen-1" });
    expect(sent({ ...complete, id: 5 })).toMatchObject({ id: "chatcmpl-own" });
  });

  it("keeps the details of a usage whose totals it completes", () => {
    const reported = { prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 }, cost: 0.1 };
    expect(sent({ ...complete, usage: reported })).toMatchObject({ usage: { ...reported, total_tokens: 5 } });
  });

  it.each([
    null,
    {},
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: -1, completion_tokens: 5 },
    { prompt_tokens: "3" },
    5,
  ])("estimates instead of charging by a usage of %j", (reported) => {
    const text = JSON.stringify({ ...complete, usage: reported });
    expect(answer(text)).toMatchObject({ estimated: true, tokens: { input: 7, output: 1 } });
    expect(sent({ ...complete, usage: reported })).toMatchObject({ usage: { prompt_tokens: 7, total_tokens: 8 } });
  });

  it("passes what it does not know", () => {
    const extra = { reasoning_content: "because", annotations: [], audio: { id: "a" } };
    const text = {
      ...complete,
      choices: [{ ...choices[0], message: { ...message, ...extra } }],
      citations: [1],
      system_fingerprint: null,
    };
    expect(sent(text)).toEqual({ ...text, model: "acme/small" });
  });

  it.each([
    "{}",
    "[]",
    "null",
    '"x"',
    '{"choices":[]}',
    '{"choices":{}}',
    '{"choices":[1]}',
    '{"choices":[{}]}',
    '{"choices":[{"message":"x"}]}',
  ])("takes %s for no chat completion", (text) => {
    expect(answer(text)).toBeUndefined();
  });
});

describe("answerToChunk", () => {
  it("makes one complete chunk of an answer", () => {
    const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }];
    expect(
      answerToChunk({
        ...complete,
        choices: [{ index: 0, message: { ...message, tool_calls: calls }, finish_reason: "tool_calls" }],
      }),
    ).toEqual({
      ...complete,
      object: "chat.completion.chunk",
      choices: [
        { index: 0, delta: { ...message, tool_calls: [{ index: 0, ...calls[0] }] }, finish_reason: "tool_calls" },
      ],
    });
  });

  it("leaves an error alone", () => {
    expect(answerToChunk({ error: "x" })).toEqual({ error: "x" });
  });
});
