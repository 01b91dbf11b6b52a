import { expect, it } from "vitest";
import { memoryAccountStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatChunks, createGate, eventStream } from "../../../../src/testing.js";
import { withAgentSession } from "../support/agent-session.js";
import { chatSpeech, streamedTurn } from "../support/chat-speech.js";
import { tokens } from "../support/model-turn.js";
import { payAsYouGo, spendPrepaid } from "../support/spent-prepaid.js";
import { noRetries, runCodex, textsOf } from "./run-codex.js";

const onChat = { speech: chatSpeech };
const spent = memoryPlanStore({ pro: { models: ["*"], credits: { week: 0.000001 } } });

it(
  "tries once when the credits are used up, whatever its retries",
  withAgentSession({ ...onChat, gateway: { plans: spent } }, async (session) => {
    session.script([{ text: "Hello there.", tokens: tokens({ input: 50, output: 4 }) }]);
    await runCodex(session, "Say hi.", { provider: [] });
    const run = await runCodex(session, "Say hi.", { provider: [] });
    expect(run.exitCode).not.toBe(0);
    expect(JSON.stringify(run.events)).toContain("Quota exceeded");
    expect(session.server.events).toMatchObject([{ status: 200 }, { status: 429, errorCode: "week_limit_exceeded" }]);
  }),
);

it(
  "tries once when the prepaid credits that it lives on are used up, whatever its retries",
  withAgentSession({ ...onChat, gateway: { plans: payAsYouGo } }, async (session) => {
    await spendPrepaid(session);
    const run = await runCodex(session, "Say hi.", { provider: [] });
    expect(run.exitCode).not.toBe(0);
    expect(JSON.stringify(run.events)).toContain("Quota exceeded. Check your plan and billing details.");
    expect(session.server.events).toMatchObject([{ status: 429, errorCode: "insufficient_quota" }]);
  }),
);

it(
  "waits for credits that others hold, as long as its own retries last",
  withAgentSession(onChat, async (session) => {
    const { gateway, denied } = session.server;
    const hold = await gateway.accounts.hold("acct_pro", { id: "image_1", credits: 1500 });
    session.script([{ text: "Hello there.", tokens: tokens({ input: 50, output: 4 }) }]);
    const running = runCodex(session, "Say hi.", { provider: [] });
    await denied(2);
    await hold.release();
    const run = await running;
    expect(textsOf(run)).toEqual(["Hello there."]);
    expect(JSON.stringify(run.events)).toMatch(/Reconnecting\.\.\. 2\/5 \(exceeded retry limit, last status: 429/);
    expect(new Set(session.server.events.map(({ errorCode }) => errorCode))).toEqual(
      new Set(["month_limit_exceeded", undefined]),
    );
  }),
);

const cut = () => ({ answer: eventStream(chatChunks("Hello there").slice(0, 2), { end: "cut" }) });

it(
  "tries a stream that is cut again, and then has all of it",
  withAgentSession(onChat, async (session) => {
    session.script([cut(), cut(), { text: "Hello there.", tokens: tokens({ input: 50, output: 4 }) }]);
    const run = await runCodex(session, "Say hi.", { provider: ["request_max_retries=0", "stream_max_retries=3"] });
    expect(textsOf(run)).toEqual(["Hello there."]);
    expect(session.server.events.map(({ usageSource }) => usageSource)).toEqual(["partial", "partial", "provider"]);
  }),
);

it(
  "gives up a stream that is always cut",
  withAgentSession(onChat, async (session) => {
    session.script([cut(), cut(), cut()]);
    const run = await runCodex(session, "Say hi.", { provider: ["request_max_retries=0", "stream_max_retries=2"] });
    expect(run.exitCode).not.toBe(0);
    expect(session.server.attempts()).toBe(3);
  }),
);

it(
  "shows what is wrong with its key",
  withAgentSession(onChat, async (session) => {
    const run = await runCodex(session, "Say hi.", { key: "sk-none" });
    expect(run.exitCode).not.toBe(0);
    expect(JSON.stringify(run.events)).toContain("401 Unauthorized");
    expect(session.server.attempts()).toBe(1);
  }),
);

it(
  "sends the refusal of a suspended account six times, whatever its header, and shows why it is one",
  withAgentSession(
    { ...onChat, gateway: { accounts: memoryAccountStore([{ id: "acct_pro", plan: "pro" }]) } },
    async (session) => {
      const { accounts } = session.server.gateway;
      await accounts.suspend("acct_pro", { message: "This account is suspended. Write to help@acme.example." });
      const run = await runCodex(session, "Say hi.", { provider: [] });
      expect(run.exitCode).not.toBe(0);
      expect(JSON.stringify(run.events)).toContain(
        "403 Forbidden: This account is suspended. Write to help@acme.example.",
      );
      const refused = { status: 403, errorCode: "account_suspended", attempts: [] };
      expect(session.server.events).toMatchObject(Array.from({ length: 6 }, () => refused));
      await runCodex(session, "Say hi.");
      expect(session.server.events.length).toBe(7);
    },
  ),
);

it(
  "bears a silent stream for longer than its own patience",
  withAgentSession({ ...onChat, gateway: { keepAliveMs: 300 } }, async (session) => {
    const gate = createGate();
    const counts = { input: 50, output: 4 };
    const chunks = streamedTurn({ text: "Hello there.", tokens: tokens(counts) });
    // The headers, the first chunk and a word.
    gate.step(3);
    session.script([{ answer: eventStream(chunks, { gate }), tokens: tokens(counts) }]);
    const running = runCodex(session, "Say hi.", { provider: [...noRetries, "stream_idle_timeout_ms=2000"] });
    await session.server.keptAlive(12);
    gate.open();
    expect(textsOf(await running)).toEqual(["Hello there."]);
    expect(session.server.attempts()).toBe(1);
  }),
);

it(
  "pays for the prompt, and holds nothing any more, when it is killed in the middle of a response",
  withAgentSession(onChat, async (session) => {
    const gate = createGate();
    // The headers, the first chunk and a word.
    gate.step(3);
    const chunks = streamedTurn({ text: "Hello there.", tokens: tokens({}) });
    session.script([{ answer: eventStream(chunks, { gate }) }]);
    const run = await runCodex(session, "Say hi.", { stopped: session.upstream.nextRequest() });
    expect(run.exitCode).toBeNull();
    await session.server.checkBooks();
    expect(session.server.events).toMatchObject([{ endReason: "client_gone", usageSource: "partial" }]);
    expect(await session.upstream.lastRequest.closed).toBe("broken");
    gate.open();
  }),
);
