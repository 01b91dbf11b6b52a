import { afterEach, describe, expect, it } from "vitest";
import { isOwnAccount } from "../../../src/protocols/shared/own-account.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { anthropic } from "../../../src/providers/presets.js";
import {
  eventStream,
  type FakeAnswer,
  type FakeUpstream,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { nativeTarget } from "../../support/operations/messages/message-samples.js";
import { chatServer, nativeServer } from "../../support/operations/responses/response-samples.js";
import { smallModel, startTestGateway } from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Refusal {
  readonly type?: string;
  readonly code?: string | number | null;
  readonly message?: string;
  readonly details?: object;
}

/** What vendors say when the operator's money with them is out, and with which status. */
const refusals: readonly [vendor: string, status: number, error: Refusal][] = [
  ["OpenAI", 429, { type: "insufficient_quota", code: "insufficient_quota", message: "You exceeded your quota." }],
  ["OpenAI", 429, { type: "insufficient_quota", code: "credit_balance_exhausted" }],
  ["OpenAI", 429, { type: "requests", code: "organization_spend_limit_exceeded" }],
  ["OpenAI", 429, { type: "requests", code: "organization_usage_limit_exceeded" }],
  ["OpenAI", 429, { type: "billing_not_active", code: "billing_not_active" }],
  ["OpenAI", 400, { type: "invalid_request_error", code: "billing_hard_limit_reached", message: "Billing hard limit" }],
  ["OpenAI", 400, { type: "image_generation_user_error", message: "Billing hard limit has been reached." }],
  ["Anthropic", 400, { type: "invalid_request_error", message: "Your credit balance is too low to access the API." }],
  ["Anthropic", 400, { type: "invalid_request_error", message: "This organization has been disabled." }],
  [
    "Anthropic",
    400,
    { type: "invalid_request_error", details: { error_code: "organization_on_hold" }, message: "No." },
  ],
  ["Anthropic", 402, { type: "billing_error", message: "No." }],
  ["Anthropic", 429, { type: "rate_limit_error", details: { error_code: "contract_spend_limit_reached" } }],
  ["Anthropic", 429, { type: "rate_limit_error", details: { error_code: "enforced_spend_limit_reached" } }],
  ["xAI", 429, { message: "Your team 16f2 has either used all available credits or reached its monthly limit." }],
  ["Gemini", 400, { code: 400, message: "User location is not supported for the API use without a billing account." }],
  [
    "Gemini",
    400,
    { code: 400, message: "Gemini API free tier is not available in your country. Please enable billing." },
  ],
  ["Gemini", 429, { code: 429, message: "Your prepayment credits are depleted. Please go to AI Studio." }],
  ["DeepSeek", 402, { type: "unknown_error", code: "invalid_request_error", message: "Insufficient Balance" }],
  ["new-api", 400, { message: "该令牌额度已用尽 !token.UnlimitedQuota && token.RemainQuota = 0" }],
  ["GLM", 429, { code: "1113", message: "Insufficient balance or no resource package. Please recharge." }],
  ["GLM", 429, { code: "1113", message: "余额不足或无可用资源包,请充值。" }],
  ["Moonshot", 429, { type: "exceeded_current_quota_error", message: "Your account is suspended." }],
  ["DashScope", 400, { type: "Arrearage", code: "Arrearage", message: "Access denied." }],
  ["Ark", 403, { type: "Forbidden", code: "AccountOverdueError", message: "No." }],
  ["Groq", 400, { type: "invalid_request_error", code: "blocked_api_access", message: "No." }],
  ["Fireworks", 412, { message: "Account acme is suspended, possibly due to reaching the monthly spending limit" }],
  ["Novita", 400, { code: "NOT_ENOUGH_BALANCE", message: "not enough balance" }],
  ["one-api", 500, { type: "one_api_error", code: "insufficient_user_quota", message: "quota" }],
  ["LiteLLM", 400, { type: "budget_exceeded", code: "400", message: "Budget has been exceeded! Current cost: 5" }],
];

/** What looks like it, and is about the client's request, or passes. */
const others: readonly [status: number, expected: number, error: Refusal][] = [
  [
    400,
    400,
    { type: "invalid_request_error", code: "invalid_value", message: "The tool 'insufficient_quota' is unknown." },
  ],
  [400, 400, { code: "thinking_budget_exceeded", message: "The budget of thinking is above max_tokens." }],
  [400, 400, { type: "invalid_request_error", message: "messages.0: 'your credit balance is too low' is no role" }],
  [429, 429, { type: "tokens", code: "rate_limit_exceeded", message: "Rate limit reached in organization org_x" }],
  [429, 429, { type: "too_many_tokens_error", code: "token_quota_exceeded", message: "Tokens per minute" }],
  [429, 429, { type: "rate_limit_error", details: { error_code: "ramp_limit_exceeded" }, message: "Slower." }],
  [429, 429, { code: 429, message: "You exceeded your current quota, please check your plan. Retry in 5s." }],
];

interface Protocol {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  readonly whole: FakeAnswer;
  readonly stream: FakeAnswer;
  failed(error: Refusal): object;
  provider(server: FakeUpstream): ReturnType<typeof openAICompatible>;
}

const messages = [{ role: "user", content: "Hi" }];
const protocols: readonly Protocol[] = [
  {
    name: "chat completions",
    path: "/v1/chat/completions",
    body: { messages },
    whole: chatServer.whole(),
    stream: chatServer.stream(),
    failed: (error) => ({ error }),
    provider: ({ url }) => openAICompatible({ baseURL: url }),
  },
  {
    name: "the Responses API",
    path: "/v1/responses",
    body: { input: "Hi" },
    whole: nativeServer.whole(),
    stream: nativeServer.stream(),
    failed: (error) => ({ type: "error", sequence_number: 0, ...error, error }),
    provider: ({ url }) => openAICompatible({ baseURL: url, operations: ["responses"] }),
  },
  {
    name: "Messages",
    path: "/v1/messages",
    body: { messages, max_tokens: 50 },
    whole: nativeTarget.whole(),
    stream: nativeTarget.stream(),
    failed: (error) => ({ type: "error", error }),
    provider: ({ url }) => anthropic({ baseURL: url.replace(/\/v1$/, ""), apiKey: "sk-up" }),
  },
];

async function start(protocol: Protocol, refusal: FakeAnswer, honest: FakeAnswer) {
  const [poor, rich] = [await startFakeUpstream(), await startFakeUpstream()];
  poor.reply(refusal);
  rich.reply(honest);
  const upstream = [
    { provider: "poor", model: "m" },
    { provider: "rich", model: "m" },
  ];
  const test = await startTestGateway({
    models: [{ ...smallModel, upstream, maxAttempts: 3, breaker: { consecutiveFailures: 2 } }],
    providers: { poor: protocol.provider(poor), rich: protocol.provider(rich) },
  });
  closers.push(
    () => poor.close(),
    () => rich.close(),
    () => test.close(),
  );
  const send = async (stream: boolean): Promise<number> => {
    const response = await test.gateway.handler(
      new Request(`http://gateway.test${protocol.path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
        body: JSON.stringify({ model: "acme/small", ...protocol.body, stream }),
      }),
    );
    await response.text();
    return response.status;
  };
  return { ...test, poor, rich, send };
}

describe.each(protocols)("a target of $name whose vendor has no money of the operator's left", (protocol) => {
  it.each(refusals)("is left for the next, and is not asked again: %s, %i, %j", async (_vendor, status, error) => {
    const places: [FakeAnswer, boolean][] = [
      [wholeAnswer(protocol.failed(error), { status }), false],
      [wholeAnswer(protocol.failed(error), { status }), true],
      [eventStream([JSON.stringify(protocol.failed(error))], { done: false }), true],
    ];
    for (const [refusal, stream] of places) {
      const test = await start(protocol, refusal, stream ? protocol.stream : protocol.whole);
      expect([await test.send(stream), await test.send(stream)]).toEqual([200, 200]);
      // The breaker has opened by the second one: the third asks the other target alone.
      expect(await test.send(stream)).toBe(200);
      expect([test.poor.requests.length, test.rich.requests.length]).toEqual([2, 3]);
      // 9 tokens of input and 3 of output, once.
      expect(test.events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39, 39]);
    }
  });
});

describe.each(protocols)("a target of $name", (protocol) => {
  it.each(others)("is not taken for poor: %i becomes %i, %j", async (status, expected, error) => {
    const test = await start(protocol, wholeAnswer(protocol.failed(error), { status }), protocol.whole);
    test.rich.reply(wholeAnswer(protocol.failed(error), { status }));
    expect(await test.send(false)).toBe(expected);
  });
});

it("what a message repeats of the client's words says nothing", () => {
  const said = { type: "invalid_request_error", code: "" };
  for (const message of [
    "Unknown function 'insufficient_quota'.",
    "The text 'your credit balance is too low' is no JSON.",
    `${" ".repeat(300)}insufficient balance`,
  ]) {
    expect(isOwnAccount({ ...said, message })).toBe(false);
  }
});
