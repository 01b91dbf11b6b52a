import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { AnswerMemory } from "../../../src/openai/chat/answer-memory.js";
import { findSlots } from "../../../src/openai/chat/answer-slots.js";
import { AnswerTemplate } from "../../../src/openai/chat/answer-template.js";
import { type AnswerContext, toChatAnswer } from "../../../src/openai/chat/chat-answer.js";
import { ReceivedAnswer } from "../../../src/openai/model-answer.js";

const context: AnswerContext = {
  model: "acme/small",
  promptTokens: 7,
  created: 1_700_000_000,
  completionId: "chatcmpl-own",
};

const message = { role: "assistant", content: "It rains." };
const choice = { index: 0, message, finish_reason: "stop" };
const usage = { prompt_tokens: 31, completion_tokens: 12, total_tokens: 43 };
const usageText = JSON.stringify(usage).slice(1, -1);
const call = { id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } };

function completion(overrides: object = {}): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [choice],
    usage,
    ...overrides,
  };
}

/** What servers send, as JSON text. */
const samples: Record<string, string> = {
  openAI: JSON.stringify(
    completion({
      choices: [{ ...choice, message: { ...message, refusal: null, annotations: [] }, logprobs: null }],
      usage: {
        ...usage,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0 },
      },
      service_tier: "default",
      system_fingerprint: "fp_1",
    }),
    null,
    2,
  ).concat("\n"),
  vLLM: JSON.stringify(
    completion({
      choices: [
        {
          ...choice,
          message: { role: "assistant", reasoning_content: "Hm.", content: "It rains.", tool_calls: [] },
          stop_reason: null,
        },
      ],
      usage: { prompt_tokens: 31, total_tokens: 43, completion_tokens: 12, prompt_tokens_details: null },
      prompt_logprobs: null,
    }),
  ),
  ollama: `${JSON.stringify(completion({ model: "acme/small", system_fingerprint: "fp_ollama" }))}\n`,
  groq: JSON.stringify(
    completion({
      usage: { queue_time: 0.018, ...usage, prompt_time: 1.2e-3, total_time: 0.5 },
      usage_breakdown: { models: null },
      x_groq: { id: "req_1", seed: 5 },
    }),
  ),
  openRouter: `\n\n${JSON.stringify({
    provider: "P",
    ...completion({
      id: "gen-1",
      usage: { ...usage, cost: 0.00014, is_byok: false, cost_details: { upstream: null } },
    }),
  })}`,
  deepSeek: JSON.stringify(
    completion({
      id: "2b6f0cc904d137be",
      usage: { ...usage, prompt_cache_hit_tokens: 3, prompt_cache_miss_tokens: 28 },
    }),
  ),
  toolCall: JSON.stringify(
    completion({
      choices: [
        { ...choice, message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason: "tool_calls" },
      ],
    }),
  ),
  twoChoices: JSON.stringify(completion({ choices: [choice, { ...choice, index: 1 }] })),
  idBehind: JSON.stringify({ object: "chat.completion", model: "m", ...completion({ id: "x" }) }).replace(
    /^(.*?)"id":"x",(.*)\}$/,
    '$1$2,"id":"x"}',
  ),
  noUsage: JSON.stringify(completion({ usage: null })),
  failed: JSON.stringify({ error: { message: "no" } }),
  nullError: JSON.stringify(completion({ error: null })),
  noChoices: JSON.stringify(completion({ choices: [] })),
  named: JSON.stringify(completion({ choices: [{ ...choice, message: { ...message, model: "model" } }] })),
};

const texts = [
  "",
  "Hm",
  "stop",
  "chatcmpl-",
  "chatcmpl-2",
  "a\\u00e9b",
  "é",
  "\\ud800",
  '\\"',
  "\\\\",
  "\\/\\b\\n",
  "x".repeat(700),
];
const oddTexts = [
  "\\u12",
  "\\x",
  "\\",
  "\n",
  "\0",
  "\u007f",
  "\xff\xfe",
  "\xc3",
  "a model",
  '\\"model\\"',
  "\\u0063hatcmpl-x",
  'a"b',
  "\u001f",
];
const numbers = ["0", "7", "12", "40", "4096", "123456", "999999999", "1000000000", "0.5"];
const oddNumbers = [
  "1000000001",
  "-1",
  "-0",
  "01",
  "1.",
  ".5",
  "+1",
  "3.0",
  "1e2",
  "1e400",
  "1e-400",
  "12345678901234567890",
  "99999999999999999",
  "null",
  '"3"',
  "{}",
  "[]",
];
const insertions = [" ", "\n", ",", '"', "}", "{", "[", "\t", "0", "-", ".", "\xa0", "\ufeff"];

type Change = (text: string) => string;

/** Replaces the value, a string's inside or a number, that is the one of this number, counted around. */
function replaceValue(nth: number, text: string, number: string): Change {
  return (json) => {
    const values = [...json.matchAll(/(?<=[:[,]\s*")(?:[^"\\]|\\.)*(?="\s*[,}\]])|(?<=[:[,]\s*)-?\d[\d.eE+-]*/g)];
    const value = values[nth % values.length];
    if (value === undefined) return json;
    const isNumber = json[value.index - 1] !== '"';
    return json.slice(0, value.index) + (isNumber ? number : text) + json.slice(value.index + value[0].length);
  };
}

const nth = fc.nat(1000);
const usual: fc.Arbitrary<Change> = fc
  .tuple(nth, fc.constantFrom(...texts), fc.constantFrom(...numbers))
  .map(([index, text, number]) => replaceValue(index, text, number));
const odd: fc.Arbitrary<Change> = fc.oneof(
  fc
    .tuple(nth, fc.constantFrom(...texts, ...oddTexts), fc.constantFrom(...numbers, ...oddNumbers))
    .map(([index, text, number]) => replaceValue(index, text, number)),
  fc.tuple(nth, fc.constantFrom(...insertions), fc.nat(2)).map(([at, added, removed]) => (json: string) => {
    const index = at % (json.length + 1);
    return json.slice(0, index) + added + json.slice(index + removed);
  }),
  // A member, or what looks like one, twice, elsewhere, renamed or not there.
  fc
    .tuple(
      nth,
      fc.constantFrom(
        "$&,$&",
        "$&,",
        ",",
        "",
        '"__proto__":{"x":1},$&,',
        '"error":{},',
        '"error":null,$&,',
        '"model":1,$&,',
        '"x":"y",$&,',
      ),
    )
    .map(([index, by]) => (json: string) => {
      const members = [...json.matchAll(/"\w+":\s*(?:"(?:[^"\\]|\\.)*"|[\d.]+|null),?/g)];
      const member = members[index % Math.max(1, members.length)];
      if (member === undefined) return json;
      const put = by.replaceAll("$&", member[0].replace(/,$/, ""));
      return json.slice(0, member.index) + put + json.slice(member.index + member[0].length);
    }),
  fc.constantFrom<Change>(
    (json) => ` ${json}`,
    (json) => `${json}\n`,
    (json) => json.replace("{", "{ "),
    (json) => json.replace(/\}(\s*)$/, " }$1"),
    (json) => json.replace('"id"', '"\\u0069d"'),
    (json) => json.replace("assistant", "user"),
    (json) => json.replace("chat.completion", "text_completion"),
    (json) => json.slice(0, -1),
    (json) => `${json}}`,
  ),
);

function seldom<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
}

/** Answers of one server or of several, as bytes. The server's are plain more often than not. */
const sequences = fc
  .tuple(
    fc.constantFrom(...Object.values(samples)),
    fc.array(
      fc.record({
        other: seldom(fc.constantFrom(...Object.values(samples))),
        changes: fc.tuple(fc.array(usual, { maxLength: 4 }), seldom(odd)),
      }),
      { minLength: 1, maxLength: 40 },
    ),
    seldom(odd),
  )
  .map(([common, rest, first]) => {
    const sample = first?.(common) ?? common;
    return [
      sample,
      ...rest.map(({ other, changes: [plain, strange] }) => {
        const json = plain.reduce((text, change) => change(text), other ?? sample);
        return strange?.(json) ?? json;
      }),
    ].map(toBytes);
  });

/** Characters up to U+00FF are bytes. */
function toBytes(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

function outcome(bytes: Uint8Array, withMemory: AnswerContext): unknown {
  const answer = toChatAnswer(new ReceivedAnswer(bytes), withMemory);
  return answer && { ...answer, body: Buffer.from(answer.body).toString("latin1") };
}

describe("AnswerMemory", () => {
  it("changes nothing about any answer", () => {
    let passed = 0;
    let others = 0;
    fc.assert(
      fc.property(sequences, fc.boolean(), fc.boolean(), (answers, isNamedSo, hidesCost) => {
        const asked = {
          ...context,
          ...(isNamedSo ? { model: "m" } : {}),
          ...(hidesCost ? { dialect: { hiddenUsage: ["cost"] } } : {}),
        };
        const memory = new AnswerMemory();
        for (const bytes of answers) {
          const expected = outcome(bytes, asked);
          const isKnown = memory.pass(new ReceivedAnswer(bytes), asked.model) !== undefined;
          expect(outcome(bytes, { ...asked, answers: memory })).toEqual(expected);
          if (isKnown) passed++;
          else others++;
        }
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 500) },
    );
    expect(passed).toBeGreaterThan(others / 10);
    expect("x" in {}).toBe(false);
  });

  it.each(["openAI", "vLLM", "ollama", "groq", "openRouter", "deepSeek", "toolCall"])(
    "reads no more than the first answer of %s whole",
    (name) => {
      const memory = new AnswerMemory();
      expect(isRead(samples[name] ?? "", memory)).toBe(true);
      for (let round = 1; round < 50; round++) {
        const text = vary(samples[name] ?? "", round);
        expect(text).not.toBe(samples[name]);
        expect(isRead(text, memory)).toBe(false);
      }
    },
  );

  it.each([
    ["has no usage", "noUsage"],
    ["has several choices", "twoChoices"],
    ["says it has no error", "nullError"],
  ])("learns nothing of an answer that %s", (_what, name) => {
    const memory = new AnswerMemory();
    for (let round = 0; round < 40; round++) expect(isRead(samples[name] ?? "", memory)).toBe(true);
  });

  it("charges by the numbers of the answer at hand", () => {
    const answers = new AnswerMemory();
    const details = (cached: number, prompt: number) =>
      toBytes(
        JSON.stringify(
          completion({
            usage: {
              prompt_tokens: prompt,
              completion_tokens: 5,
              total_tokens: prompt + 5,
              prompt_tokens_details: { cached_tokens: cached },
            },
          }),
        ),
      );
    const tokensOf = (bytes: Buffer) => toChatAnswer(new ReceivedAnswer(bytes), { ...context, answers })?.tokens;
    for (const [cached, prompt] of [
      [0, 10],
      [0, 20],
      [8, 30],
      [0, 40],
      [9, 50],
    ] as const) {
      expect(tokensOf(details(cached, prompt))).toEqual({
        input: prompt,
        cachedInput: cached,
        output: 5,
        reasoning: 0,
      });
      // One that matches up to its last byte leaves no trace.
      tokensOf(Buffer.concat([details(7, 99).subarray(0, -1), Buffer.from("]")]));
    }
  });

  it("learns one answer of sixteen, and forgets what came up least lately", () => {
    const memory = new AnswerMemory();
    const shape = (number: number) => JSON.stringify(completion({ [`extra${number}`]: 1 }));
    /** Feeds it until it knows them. */
    const lessons = (number: number) => {
      let read = 0;
      while (isRead(shape(number), memory)) expect(++read).toBeLessThan(40);
      return read;
    };
    expect(lessons(0)).toBe(1);
    expect(lessons(1)).toBe(15);
    expect(lessons(0)).toBe(0);
    expect(lessons(2)).toBe(14);
    expect([lessons(2), lessons(1), lessons(0)]).toEqual([0, 0, 0]);
    // In place of the one that has not come for longest.
    expect(lessons(3)).toBe(12);
    expect([lessons(0), lessons(1), lessons(3)]).toEqual([0, 0, 0]);
    expect(lessons(2)).toBeGreaterThan(1);
  });

  it.each([
    ['"created":1', '"created":1.0', '"created":1.5'],
    ['"created":1', '"created":2', `"created":1${"0".repeat(400)}`],
    ['"index":0', '"index":0.0', '"index":0.5'],
    ['"total_tokens":43', '"total_tokens":43.0', '"total_tokens":43.5'],
    ['"id":"gen-1"', '"id":"gen-2"', '"id":"\\u0063hatcmpl-1"'],
    ['"id":"gen-1"', '"id":"gen-2"', '"id":""'],
    ['"id":"gen-1"', '"id":"\\u0063hatcmpl-1"', '"id":"gen-1"'],
    ['"id":"gen-1"', '"id":"gen-2"', '"id":"chatcmpl-1"'],
    ['"model":"m"', '"model":"m","model":"n"', '"model":"o","model":"p"'],
    [usageText, usageText, usageText.replaceAll(/\d+/g, "0")],
    [usageText, usageText, usageText.replaceAll(/\d+/g, "1000000001")],
    ['"finish_reason":"stop"}]', '"finish_reason":"stop"}]', '"finish_reason":"length"}] '],
  ])("does with %s what has to be done after %s: %s", (plain, first, second) => {
    const answers = new AnswerMemory();
    const json = JSON.stringify(completion({ id: "gen-1" }));
    expect(json).toContain(plain);
    for (const value of [first, first, second, first]) {
      const bytes = toBytes(json.replace(plain, value));
      expect(outcome(bytes, { ...context, answers })).toEqual(outcome(bytes, context));
    }
  });

  it.each([
    ["no white space", ""],
    ["white space before its last brace", " "],
  ])("gives an id its prefix in an answer with %s", (_what, space) => {
    const answers = new AnswerMemory();
    for (const id of ["gen-1", "gen-2", "gen-3"]) {
      const bytes = toBytes(JSON.stringify(completion({ id })).replace(/\}$/, `${space}}`));
      expect(outcome(bytes, { ...context, answers })).toEqual(outcome(bytes, context));
    }
  });

  it("leaves a name that is the client's, too, as it is in an id's company", () => {
    const answers = new AnswerMemory();
    const asked = { ...context, model: "größer" };
    for (const id of ["gen-1", "gen-2", "gen-3"]) {
      const bytes = Buffer.from(JSON.stringify(completion({ id, model: asked.model })));
      expect(outcome(bytes, { ...asked, answers })).toEqual(outcome(bytes, asked));
    }
  });

  it.each([
    (json: string) => json.replace(/\}$/, ',"__proto__":{"get":7,"isAdmin":7}}'),
    (json: string) => json.replace('"usage":{', '"usage":{"__proto__":{"isAdmin":7,"prompt_cache_hit_tokens":7},'),
    (json: string) => json.replace('"usage":{', '"usage":{"constructor":{"prototype":{"isAdmin":7}},'),
  ])("writes to no object but its own: %#", (change) => {
    const answers = new AnswerMemory();
    for (let round = 0; round < 3; round++) {
      const bytes = toBytes(change(JSON.stringify(completion())).replaceAll("7", String(round)));
      expect(outcome(bytes, { ...context, answers })).toEqual(outcome(bytes, context));
      expect("isAdmin" in {}).toBe(false);
    }
  });

  it("reads an answer that is nested very deep whole", () => {
    const nested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const memory = new AnswerMemory();
    for (let round = 0; round < 2; round++) {
      expect(isRead(JSON.stringify(completion()).replace(/\}$/, `,"deep":${nested}}`), memory)).toBe(true);
    }
    const objects = `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`;
    expect(isRead(JSON.stringify(completion()).replace(/\}$/, `,"deep":${objects}}`), new AnswerMemory())).toBe(true);
  });

  it("learns long texts, but not all that may be long", () => {
    const long = (member: object) =>
      JSON.stringify(completion({ choices: [{ ...choice, message: { ...message, ...member } }] }));
    const memory = new AnswerMemory();
    expect(isRead(long({ content: "x".repeat(40_000) }), memory)).toBe(true);
    expect(isRead(long({ content: "é".repeat(50_000) }), memory)).toBe(false);
    for (const member of [
      { ["x".repeat(17_000)]: 1 },
      { logprobs: Array(65).fill(-0.5) },
      { list: Array(9000).fill(null) },
    ]) {
      const other = new AnswerMemory();
      expect([isRead(long(member), other), isRead(long(member), other)]).toEqual([true, true]);
    }
  });

  it("tells clients' names for the model apart", () => {
    const answers = new AnswerMemory();
    const bytes = toBytes(samples["vLLM"] ?? "");
    for (const model of ["acme/small", "acme/large", "m", "größer", "acme/small"]) {
      const asked = { ...context, model };
      expect(outcome(bytes, { ...asked, answers })).toEqual(outcome(bytes, asked));
    }
  });

  it("looks at few answers of a server whose answers are never alike, until they are", () => {
    const memory = new AnswerMemory();
    const shape = (name: string) => JSON.stringify(completion({ [name]: 1 }));
    const looked = vi.spyOn(AnswerTemplate.prototype, "pass");
    const learned = vi.spyOn(AnswerTemplate, "learn");
    for (let round = 0; round < 1000; round++) expect(isRead(shape(`extra${round}`), memory)).toBe(true);
    expect(looked.mock.calls.length).toBeLessThan(400);
    expect(learned.mock.calls.length).toBeLessThan(24);
    let read = 0;
    while (isRead(shape("same"), memory)) expect(++read).toBeLessThan(70);
    for (let round = 0; round < 10; round++) expect(isRead(shape("same"), memory)).toBe(false);
    vi.restoreAllMocks();
  });

  it("keeps nothing of long texts", () => {
    const text = "s".repeat(300);
    const answer = completion({ choices: [{ ...choice, message: { ...message, content: text } }] });
    const slots = findSlots(toBytes(JSON.stringify(answer)))?.slots;
    expect(slots?.map(({ value }) => value)).toContain("stop");
    expect(slots?.filter(({ value }) => value.includes("s".repeat(10)))).toEqual([]);
  });
});

/** Whether it takes the answer to be parsed. */
function isRead(text: string, answers: AnswerMemory): boolean {
  const received = new ReceivedAnswer(toBytes(text));
  const read = vi.spyOn(received, "json", "get");
  expect(toChatAnswer(received, { ...context, answers })).toBeDefined();
  return read.mock.calls.length > 0;
}

/** Another answer of the same server. */
function vary(json: string, round: number): string {
  return json
    .replace(/("id": ?"[^"]*)1/, `$1${round}`)
    .replace("It rains.", `${"é".repeat(round % 2)}It \\"rains\\"\\n${"x".repeat(round * round)}`)
    .replace('"created":1', `"created":17000000${round}`)
    .replace(/("prompt_tokens": ?)\d+/, `$1${31 + round}`)
    .replace(/("cost": ?)[\d.]+/, `$1${round / 1e7}`)
    .replace(/("queue_time": ?)[\d.]+/, `$1${round / 7}`)
    .replace(/("finish_reason": ?)"stop"/, `$1"${round % 3 === 0 ? "length" : "stop"}"`)
    .replace(/("(?:reasoning_tokens|prompt_cache_hit_tokens)": ?)\d+/, `$1${round % 5}`);
}
