import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelResponse } from "../../../src/prices/progress.js";
import { toChatResponse } from "../../../src/protocols/chat/chat-response.js";
import { toMessageResponse } from "../../../src/protocols/messages/message-response.js";
import { toNativeResponse } from "../../../src/protocols/responses/native-response.js";
import { readWhole, type WholeReader } from "../../../src/protocols/shared/exchange.js";
import { ReceivedResponse } from "../../../src/protocols/shared/received-response.js";
import { answerContext } from "../../support/answer-context.js";

const long = "The quick brown fox. ".repeat(300);
const context = answerContext();
const responseContext = {
  ...context,
  ...{ responseId: "resp_own", createdAt: 1, previousResponseId: undefined, isStored: false },
};

type Json = { [name: string]: unknown };

/** What each API answers, and what reads it. */
const kinds: readonly { answer: Json; read: (received: ReceivedResponse) => ModelResponse | undefined }[] = [
  {
    answer: {
      ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "up", service_tier: "default" },
      choices: [
        {
          ...{ index: 0, finish_reason: "stop", logprobs: null },
          message: {
            ...{ role: "assistant", content: long, reasoning_content: long, refusal: null },
            tool_calls: [
              { id: "call_1", type: "function", function: { name: "f", arguments: JSON.stringify({ long }) } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 1 } },
    },
    read: (received) => toChatResponse(received, context),
  },
  {
    answer: {
      ...{ id: "resp_1", object: "response", status: "completed", model: "up", store: true, instructions: long },
      ...{ previous_response_id: null, incomplete_details: null, error: null },
      output: [
        { id: "rs_1", type: "reasoning", summary: [], encrypted_content: long },
        { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text: long }] },
        { id: "fc_1", type: "function_call", call_id: "call_1", name: "f", arguments: long },
      ],
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5, output_tokens_details: { reasoning_tokens: 1 } },
    },
    read: (received) => toNativeResponse(received, responseContext),
  },
  {
    answer: {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "up", stop_reason: "tool_use", stop_sequence: null },
      content: [
        { type: "thinking", thinking: long, signature: long },
        { type: "text", text: long },
        { type: "tool_use", id: "toolu_1", name: "f", input: { text: long, parts: [long] } },
      ],
      usage: {
        input_tokens: 3,
        output_tokens: 2,
        iterations: [{ type: "message", input_tokens: 3, output_tokens: 2 }],
      },
    },
    read: (received) => toMessageResponse(received, context),
  },
];

class Refused extends Error {}

const readerOf = (read: WholeReader["read"]): WholeReader => ({
  read,
  refuse: () => {
    throw new Refused();
  },
});

/** Where values stand in an answer: the names and indices that lead to each of them. */
function pathsOf(value: unknown): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return names.flatMap((name) => [[name], ...pathsOf((value as Json)[name]).map((path) => [name, ...path])]);
}

function changed(answer: Json, path: readonly (string | number)[], value: unknown): Json {
  const copy = structuredClone(answer);
  let holder: Json | undefined = copy;
  for (const name of path.slice(0, -1)) {
    const inner: unknown = holder[name];
    if (typeof inner !== "object" || inner === null) return copy;
    holder = inner as Json;
  }
  const last = path.at(-1) as string;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

const marks = ["\u0000\u2026", "\u0000\u2026".repeat(300)];
const text = fc.constantFrom(long, 'é"\\\n'.repeat(400), "x".repeat(600), ...marks, "length", "");
const value = fc.oneof(
  text,
  fc.constantFrom(undefined, null, -1, 1.5, 20, true, {}, [], [long], { text: long }, [{ type: "text", text: long }]),
);
const noise = fc.constantFrom(...'"\\{}[],:x1\u0001é ');

/** What came of reading: all that is known of the answer, with its bytes. */
async function outcomeOf(read: () => ModelResponse | undefined | Promise<ModelResponse | undefined>): Promise<unknown> {
  try {
    const answer = await read();
    return answer && { ...answer, body: Buffer.from(answer.body).toString("latin1") };
  } catch (error) {
    return error instanceof Refused ? undefined : String(error);
  }
}

describe("a whole answer with long texts", () => {
  const anyKind = fc.constantFrom(...kinds).chain(({ answer, read }) =>
    fc.record({
      answer: fc.constant(answer),
      read: fc.constant(read),
      changes: fc.array(fc.tuple(fc.constantFrom(...pathsOf(answer)), value), { maxLength: 2 }),
    }),
  );
  const shape = fc.record({
    isSpaced: fc.boolean(),
    twice: fc.option(fc.constantFrom('"model":"twice"', '"id":"twice"', '"\\u006dodel":"twice"', `"usage":"${long}"`)),
    broken: fc.option(fc.tuple(fc.nat(), noise), { freq: 6 }),
  });

  it("is read as one that is parsed as a whole", async () => {
    let searched = 0;
    await fc.assert(
      fc.asyncProperty(anyKind, shape, async ({ answer, read, changes }, { isSpaced, twice, broken }) => {
        let json = answer;
        for (const [path, other] of changes) json = changed(json, path, other);
        let written = JSON.stringify(json, null, isSpaced ? 1 : 0);
        if (twice !== null) written = `${written.slice(0, -1)},${twice}}`;
        const bytes = Buffer.from(written);
        if (broken !== null) bytes.write(broken[1], broken[0] % bytes.length);
        let parsed = 0;
        const reader = readerOf((received) => {
          if (received.gaps.length === 0) parsed++;
          return read(received);
        });
        const found = await outcomeOf(() => readWhole(bytes, reader));
        expect(found).toEqual(await outcomeOf(() => read(new ReceivedResponse(bytes))));
        if (parsed === 0) searched++;
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 500) },
    );
    expect(searched).toBeGreaterThan(100);
  });

  it.each(kinds)("is read without its texts", async ({ answer, read }) => {
    const seen: number[] = [];
    const reader = readerOf((received) => {
      seen.push(JSON.stringify(received.json).length);
      return read(received);
    });
    const answered = await readWhole(Buffer.from(JSON.stringify(answer)), reader);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBeLessThan(1500);
    expect(answered.estimated).toBe(false);
  });

  it("is repaired in its long lists", async () => {
    const calls = Array.from({ length: 30 }, (_, at) => ({
      id: `call_${at}`,
      function: { name: "f", arguments: "{}" },
    }));
    const message = { role: "assistant", content: long, tool_calls: calls };
    const choices = [{ index: 0, finish_reason: "tool_calls", message }];
    const read = (received: ReceivedResponse) => toChatResponse(received, context);
    const { body } = await readWhole(Buffer.from(JSON.stringify({ ...kinds[0]?.answer, choices })), readerOf(read));
    expect(Buffer.from(body).toString().split('"type":"function"')).toHaveLength(31);
  });

  it.each(kinds)("of many slices is read as one that is parsed at once", async ({ answer, read }) => {
    for (const usage of [answer["usage"], null]) {
      const bytes = Buffer.from(JSON.stringify({ ...answer, usage, filler: [long.repeat(60), { long }] }));
      const answered = readWhole(bytes, readerOf(read));
      expect(answered).toBeInstanceOf(Promise);
      expect(await outcomeOf(() => answered)).toEqual(await outcomeOf(() => read(new ReceivedResponse(bytes))));
    }
  });
});
