import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { responseToChunk, toChatResponse } from "../../../../src/protocols/chat/chat-response.js";
import { editResponse, ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { editMembers, membersOf } from "../../../../src/wire/json-members.js";
import { answerContext } from "../../../support/answer-context.js";

const context = answerContext();

function answer(text: string) {
  return toChatResponse(new ReceivedResponse(Buffer.from(text)), context);
}

function sent(value: object): Record<string, unknown> {
  return JSON.parse(Buffer.from(answer(JSON.stringify(value))?.body ?? []).toString()) as Record<string, unknown>;
}

const message = { role: "assistant", content: "hi" };
const choices = [{ index: 0, message, finish_reason: "stop" }];
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const complete = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices, usage };

describe("toChatResponse", () => {
  it("changes the model and leaves the rest of the text alone", () => {
    const text =
      '{"id":"chatcmpl-1", "object":"chat.completion","created":1,"model":"m","x":[1.0,12345678901234567890],"choices":[{"index":0,"message":{"role":"assistant","content":"h\\u00e9"},"finish_reason":"stop","logprobs":null}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}';
    expect(String(answer(text)?.body)).toBe(text.replace('"m"', '"acme/small"'));
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
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
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

  it.each([null, {}, { prompt_tokens: 0, completion_tokens: 0 }, { prompt_tokens: "3" }, 5])(
    "estimates instead of charging by a usage of %j",
    (reported) => {
      const text = JSON.stringify({ ...complete, usage: reported });
      expect(answer(text)).toMatchObject({ estimated: true, tokens: { input: 7, output: 1 } });
      expect(sent({ ...complete, usage: reported })).toMatchObject({ usage: { prompt_tokens: 7, total_tokens: 8 } });
    },
  );

  it.each([
    [{ prompt_tokens: -1, completion_tokens: 5 }, [7, 5]],
    [{ prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 }, [3, 1]],
  ])("estimates the half that a usage of %j does not count", (reported, [input, output]) => {
    const text = JSON.stringify({ ...complete, usage: reported });
    expect(answer(text)).toMatchObject({ estimated: true, tokens: { input, output } });
    expect(sent({ ...complete, usage: reported })).toMatchObject({
      usage: { prompt_tokens: input, completion_tokens: output },
    });
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

describe("editResponse", () => {
  it("changes the model's name as a list of all members would, whatever the answer looks like", () => {
    const name = fc.constantFrom("model", "id", "\\u006dodel", "é", "x");
    const word = fc.constantFrom('"model"', '"m"', '"a\\"model\\":b"', '"\\u00e9"', '"é"', "null", "1");
    const space = fc.constantFrom("", "", " ", "\n");
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        word,
        fc.array(tie("value"), { maxLength: 2 }).map((values) => `[${values.join(",")}]`),
        fc
          .array(fc.tuple(name, space, tie("value")), { maxLength: 3 })
          .map((members) => `{${members.map(([key, gap, inner]) => `"${key}"${gap}:${gap}${inner}`).join(",")}}`),
      ),
    }));
    let changed = 0;
    fc.assert(
      fc.property(value, fc.boolean(), fc.boolean(), (text, isLong, isNamed) => {
        const own = isNamed ? ',"model":"m"' : "";
        const json = `{${isLong ? `"long":"${"x".repeat(20_000)}",` : ""}"first":${text}${own},"last":${text}}`;
        const bytes = Buffer.from(json);
        const edits = new Map([["model", '"acme/small"']]);
        const body = Buffer.from(editResponse(new ReceivedResponse(bytes), edits));
        const expected = editMembers(bytes, membersOf(bytes), edits);
        expect(body.toString()).toBe(Buffer.from(expected).toString());
        if (isNamed && !text.includes("model")) changed++;
      }),
      { numRuns: 500 },
    );
    expect(changed).toBeGreaterThan(50);
  });

  it("makes several edits as they are made in bytes, whatever the answer looks like", () => {
    const name = fc.constantFrom("id", "model", "store", "usage", "x", "\\u0069d");
    const value = fc.constantFrom("1", "null", '"é"', '"a\\"b"', '{"id":[{"model":2}]}', "[]");
    const space = fc.constantFrom("", "", " ", "\n");
    const member = fc
      .tuple(space, name, space, value)
      .map(([gap, key, other, own]) => `${gap}"${key}"${other}:${own}${gap}`);
    const edit = fc.tuple(
      fc.constantFrom("id", "store", "usage", "model"),
      fc.option(fc.constantFrom('"n"', "{}", '"é"')),
    );
    fc.assert(
      fc.property(
        fc.array(member, { maxLength: 6 }),
        fc.array(edit, { minLength: 2, maxLength: 4 }),
        fc.boolean(),
        (members, edited, isLong) => {
          const bytes = Buffer.from(
            `{${[...members, ...(isLong ? [`"long":"${"x".repeat(20_000)}"`] : [])].join(",")} }`,
          );
          const edits = new Map(edited);
          if (edits.size < 2) return;
          const body = Buffer.from(editResponse(new ReceivedResponse(bytes), edits));
          expect(body.toString()).toBe(editMembers(bytes, membersOf(bytes), edits).toString());
        },
      ),
      { numRuns: 500 },
    );
  });

  it("is not fooled by a name that comes twice, or is spelled with escapes", () => {
    const edits = new Map([["model", '"n"']]);
    const edit = (text: string) =>
      JSON.parse(String(Buffer.from(editResponse(new ReceivedResponse(Buffer.from(text)), edits))));
    expect(edit('{"model":"m","model":"m"}')).toEqual({ model: "n" });
    expect(edit('{"x":{"model":"m"},"\\u006dodel":"m"}')).toEqual({ x: { model: "m" }, model: "n" });
    expect(edit('{"x":["model"],"model":"m"}')).toEqual({ x: ["model"], model: "n" });
    expect(edit('{"a \\"model":1,"model":"m"}')).toEqual({ 'a "model': 1, model: "n" });
  });

  it("adds the name to an answer without one, whatever else it names so", () => {
    const edits = new Map([["model", '"n"']]);
    const edit = (text: string) =>
      JSON.parse(String(Buffer.from(editResponse(new ReceivedResponse(Buffer.from(text)), edits))));
    expect(edit('{"provider":{"model":"m"}}')).toEqual({ provider: { model: "m" }, model: "n" });
    expect(edit('{"a \\"model":1}')).toEqual({ 'a "model': 1, model: "n" });
  });
});

describe("responseToChunk", () => {
  it("makes one complete chunk of an answer", () => {
    const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }];
    expect(
      responseToChunk({
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
    expect(responseToChunk({ error: "x" })).toEqual({ error: "x" });
  });
});
