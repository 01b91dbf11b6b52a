import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ModelResponse } from "../../../../src/prices/progress.js";
import { toChatResponse, toRepairedResponse } from "../../../../src/protocols/chat/chat-response.js";
import { plainCompletion } from "../../../../src/protocols/chat/plain-completion.js";
import type { AttemptContext } from "../../../../src/protocols/shared/exchange.js";
import { ReceivedResponse } from "../../../../src/protocols/shared/received-response.js";
import { answerContext } from "../../../support/answer-context.js";

const message = '{"role":"assistant","content":"hi","refusal":null}';
const usage = '{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}';

/** The members of a completion that needs no repair, as JSON text. */
const plain = { id: '"chatcmpl-1"', object: '"chat.completion"', created: "1", model: '"m"', usage };
const plainChoice = { index: "0", message, finish_reason: '"stop"' };

const values = [
  ...['"m"', '"chatcmpl-é"', '"chatcmpl-\\u0031"', '"acme/small"', '"length"', '""', "null", "0", "1", "-1", "1.5"],
  ...["1e3", "12345678901234567", "true", "[]", "{}", '{"message":"x"}', message, usage, `[${message}]`],
  ...['{"role":"user","content":"hi"}', '{"role":"assistant"}', '{"role":"assistant","content":[]}'],
  '{"role":"assistant","content":[{"type":"text","text":"hi"}]}',
  '{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}',
  '{"role":"assistant","content":"é \\"model\\": 😀"}',
  '{"role":"assistant","content":"hi","tool_calls":[]}',
  '{"role":"assistant","content":"hi","content":"ho"}',
  '{"prompt_tokens":3,"completion_tokens":2,"total_tokens":9}',
  '{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}',
  '{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"total_tokens":6}',
  '{"prompt_tokens":3,"completion_tokens":2e9,"total_tokens":5}',
  '{"prompt_tokens":3,"completion_tokens":2000000000,"total_tokens":5}',
  '{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"cost":null}',
  '{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1}}',
  '{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"completion_tokens_details":{"reasoning_tokens":-1}}',
];
const names = [
  ...["id", "object", "created", "model", "choices", "usage", "error", "index", "message", "finish_reason", "logprobs"],
  ...["\\u0069d", "\\u006dodel", "Model", "system_fingerprint", "__proto__", "é"],
];
const member = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...values));
const changes = fc.oneof(
  { weight: 2, arbitrary: fc.constant<[string, string][]>([]) },
  fc.array(member, { minLength: 1, maxLength: 2 }),
);

/** With some members set, others added again, and some taken out. */
function objectOf(members: object, changed: [string, string][], isAdded: boolean, gap: string): string {
  const entries = isAdded ? [...Object.entries(members), ...changed] : Object.entries({ ...members, ...of(changed) });
  return `{${entries.map(([name, value]) => `"${name}"${gap}:${gap}${value}`).join(`,${gap}`)}}`;
}

function of(changed: [string, string][]): Record<string, string> {
  return Object.fromEntries(changed.filter(([name]) => name !== "__proto__"));
}

function outcomeOf(read: () => ModelResponse | undefined): unknown {
  const answer = read();
  return answer && { ...answer, body: Buffer.from(answer.body).toString("latin1") };
}

const contexts: readonly AttemptContext[] = [
  answerContext(),
  answerContext({ model: "m" }),
  answerContext({ dialect: { hiddenUsage: ["cost", "total_tokens"] } }),
];

it("is read as one that is parsed", () => {
  let searched = 0;
  const shape = fc.record({
    ofRoot: changes,
    ofChoice: changes,
    isAdded: fc.boolean(),
    gap: fc.constantFrom("", "", " ", "\n"),
    choicesIn: fc.constantFrom(1, 1, 1, 1, 2),
    broken: fc.option(fc.tuple(fc.nat(), fc.constantFrom(...'"\\{}[],:x1\u0001é ')), { freq: 2 }),
    context: fc.constantFrom(...contexts),
  });
  fc.assert(
    fc.property(shape, ({ ofRoot, ofChoice, isAdded, gap, choicesIn, broken, context }) => {
      const choice = objectOf(plainChoice, ofChoice, isAdded, gap);
      const choices = `[${gap}${Array(choicesIn).fill(choice).join()}${gap}]`;
      const bytes = Buffer.from(objectOf({ ...plain, choices }, ofRoot, isAdded, gap));
      if (broken !== null) bytes.write(broken[1], broken[0] % bytes.length);
      expect(outcomeOf(() => toChatResponse(new ReceivedResponse(bytes), context))).toEqual(
        outcomeOf(() => toRepairedResponse(new ReceivedResponse(bytes), context)),
      );
      if (plainCompletion(new ReceivedResponse(bytes), context) !== undefined) searched++;
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 2_500) },
  );
  expect(searched).toBeGreaterThan(60);
});

it("is searched where servers write it as they do", () => {
  const choices = [{ index: 0, message: JSON.parse(message) as object, finish_reason: "stop", logprobs: null }];
  const details = { prompt_tokens_details: { cached_tokens: 1 }, completion_tokens_details: null };
  const written = { ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices } };
  for (const counted of [JSON.parse(usage) as object, { ...(JSON.parse(usage) as object), ...details }]) {
    const bytes = Buffer.from(JSON.stringify({ ...written, usage: counted, system_fingerprint: null }));
    expect(plainCompletion(new ReceivedResponse(bytes), answerContext())).toMatchObject({
      ...{ responseId: "chatcmpl-1", finishReason: "stop", estimated: false },
      tokens: { input: 3, output: 2 },
    });
  }
});
