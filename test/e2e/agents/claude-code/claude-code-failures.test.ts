import { expect, it } from "vitest";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { createGate, eventStream } from "../../../../src/testing.js";
import { withAgentSession } from "../support/agent-session.js";
import { chatSpeech, streamedTurn } from "../support/chat-speech.js";
import { tokens } from "../support/model-turn.js";
import { payAsYouGo, spendPrepaid } from "../support/spent-prepaid.js";
import { runClaudeCode } from "./run-claude-code.js";

const onChat = { speech: chatSpeech };
const spent = memoryPlanStore({ pro: { models: ["*"], credits: { week: 0.000001 } } });
const hello = { text: "Hello there.", tokens: tokens({ input: 50, output: 4 }) };
/** As a user has it. */
const ownRetries = { environment: {} };

it(
  "tries once when the credits are used up, whatever its retries",
  withAgentSession({ ...onChat, gateway: { plans: spent } }, async (session) => {
    session.script([hello]);
    await runClaudeCode(session, "Say hi.");
    const run = await runClaudeCode(session, "Say hi.", ownRetries);
    expect(run.exitCode).not.toBe(0);
    expect(run.result).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/429.*Week usage quota exhausted/),
    });
    expect(session.server.events).toMatchObject([{ status: 200 }, { status: 429, errorCode: "week_limit_exceeded" }]);
  }),
);

it(
  "tries once when the prepaid credits that it lives on are used up, whatever its retries",
  withAgentSession({ ...onChat, gateway: { plans: payAsYouGo } }, async (session) => {
    await spendPrepaid(session);
    const run = await runClaudeCode(session, "Say hi.", ownRetries);
    expect(run.exitCode).not.toBe(0);
    expect(run.result).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/429.*No prepaid credits are left.*Top up the account to go on\./),
    });
    expect(session.server.events).toMatchObject([{ status: 429, errorCode: "insufficient_quota" }]);
  }),
);

it(
  "waits for credits that others hold, as long as its own retries last",
  withAgentSession(onChat, async (session) => {
    const { gateway, denied } = session.server;
    const hold = await gateway.accounts.hold("acct_pro", { id: "image_1", credits: 1500 });
    session.script([hello]);
    const running = runClaudeCode(session, "Say hi.", ownRetries);
    await denied(2);
    await hold.release();
    expect((await running).result).toMatchObject({ is_error: false, result: hello.text });
    expect(new Set(session.server.events.map(({ errorCode }) => errorCode))).toEqual(
      new Set(["month_limit_exceeded", undefined]),
    );
  }),
);

it(
  "tries once with a key that is none, whatever its retries",
  withAgentSession(onChat, async (session) => {
    const run = await runClaudeCode(session, "Say hi.", { ...ownRetries, key: "sk-none" });
    expect(run.result).toMatchObject({ is_error: true, result: expect.stringContaining("401") });
    expect(session.server.attempts()).toBe(1);
  }),
);

it.each([
  // The gateway has sent nothing then, and answers with a 502.
  ["before it has begun", 0, { isStream: true, usageSource: undefined }],
  ["before its first word", 1, { isStream: false, usageSource: undefined }],
  ["after a word", 2, { isStream: false, usageSource: "partial" }],
])(
  "asks once more when a stream is cut %s, for the whole answer if it had begun",
  (_when, pieces, { isStream, usageSource }) =>
    withAgentSession(onChat, async (session) => {
      const cut = { answer: eventStream(streamedTurn(hello).slice(0, pieces), { end: "cut" }) };
      session.script([cut, hello]);
      const run = await runClaudeCode(session, "Say hi.", ownRetries);
      expect(run.result).toMatchObject({ is_error: false, result: "Hello there." });
      expect(session.server.events.map((event) => event.usageSource)).toEqual([usageSource, "provider"]);
      expect(session.server.events.map((event) => event.stream)).toEqual([true, isStream]);
    })(),
);

it(
  "bears a silent stream",
  withAgentSession({ ...onChat, gateway: { keepAliveMs: 300 } }, async (session) => {
    const gate = createGate();
    // The headers, the first chunk and a word.
    gate.step(3);
    session.script([{ answer: eventStream(streamedTurn(hello), { gate }), tokens: hello.tokens }]);
    const running = runClaudeCode(session, "Say hi.");
    await session.server.keptAlive(3);
    gate.open();
    expect((await running).result.result).toBe("Hello there.");
    expect(session.server.attempts()).toBe(1);
  }),
);

it(
  "is refused a search of the web, which would find nothing, and goes on",
  withAgentSession(onChat, async (session) => {
    const call = (id: string, name: string, values: Record<string, unknown>) => ({ id, name, arguments: values });
    const { text, tokens: count } = hello;
    session.script([
      { calls: [call("call_a", "ToolSearch", { query: "select:WebSearch", max_results: 1 })], tokens: count },
      { calls: [call("call_b", "WebSearch", { query: "weather in Paris" })], tokens: count },
      { text, tokens: count },
    ]);
    const { result } = await runClaudeCode(session, "Search the web.", { args: ["--allowedTools", "WebSearch"] });
    expect(result.result).toBe(text);
    expect(session.upstream.lastRequest.json.messages.at(-1)).toMatchObject({
      role: "tool",
      tool_call_id: "call_b",
      content: expect.stringContaining("400 tools.0: "),
    });
    expect(session.upstream.requests).toHaveLength(3);
  }),
);
