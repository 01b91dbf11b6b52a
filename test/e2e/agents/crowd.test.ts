import { expect, it, vi } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { createGate, type Gate, startFakeUpstream } from "../../../src/testing.js";
import { type ClientServer, startServer } from "../clients/start-server.js";
import { runClaudeCode } from "./claude-code/run-claude-code.js";
import { runCodex, textsOf } from "./codex/run-codex.js";
import { makeAgentFolders } from "./support/agent-folders.js";
import { agentModel, costOf } from "./support/agent-model.js";
import { type AgentPlace, basePath, placeOf } from "./support/agent-place.js";
import { chatSpeech } from "./support/chat-speech.js";
import { closeAll } from "./support/close-all.js";
import { tokens } from "./support/model-turn.js";
import { startOutsideTrap } from "./support/outside-trap.js";

/** Of each kind. */
const agents = 10;
const hello = { text: "Hello there.", tokens: tokens({ input: 50, output: 4_000 }) };
const costMicro = costOf(hello.tokens);
const monthMicro = 10_000_000;
/** What the plan has left: it pays for half of the calls, and a part of the next one. */
const leftMicro = agents * costMicro + 20_000;
const prepaidMicro = 1_000_000;

/** A gateway in front of a model that waits at the gate, and places for the agents. */
async function withCrowd(gate: Gate, run: (server: ClientServer, places: readonly AgentPlace[]) => Promise<void>) {
  const closers: (() => unknown)[] = [];
  try {
    const trap = await startOutsideTrap();
    closers.unshift(trap.close);
    const upstream = await startFakeUpstream();
    closers.unshift(upstream.close);
    upstream.reply(async (request, response) => {
      await gate.pass();
      await (request.json.stream ? chatSpeech.stream(hello) : chatSpeech.whole(hello))(request, response);
    });
    const server = await startServer({
      basePath,
      models: [agentModel],
      plans: memoryPlanStore({ pro: { models: ["*"], credits: { month: monthMicro / 1e6 } } }),
      providers: { scripted: openAICompatible({ baseURL: upstream.url }) },
    });
    closers.unshift(server.close);
    const places = Array.from({ length: 2 * agents }, () => {
      const folders = makeAgentFolders();
      closers.push(folders.remove);
      return placeOf(folders, server, trap);
    });
    await run(server, places);
    expect(trap.calls).toEqual([]);
  } finally {
    await closeAll(closers);
  }
}

/** As users have them: with the agents' own retries. */
async function sayHi(place: AgentPlace, at: number): Promise<unknown> {
  const timeLimitMs = 240_000;
  if (at % 2 === 0) return textsOf(await runCodex(place, "Say hi.", { provider: [], timeLimitMs }));
  const { result } = await runClaudeCode(place, "Say hi.", { environment: {}, timeLimitMs });
  return [result.result];
}

it("20 agents at once on a plan that is nearly used up overdraw nothing, try again until they succeed, and spend prepaid credits last", async () => {
  const gate = createGate();
  await withCrowd(gate, async (server, places) => {
    const { accounts } = server.gateway;
    const before = await accounts.hold("acct_pro", { id: "before", creditsMicro: monthMicro - leftMicro });
    await before.settle({ creditsMicro: monthMicro - leftMicro });
    await accounts.topUp("acct_pro", { id: "payment_1", credits: prepaidMicro / 1e6 });

    const running = Promise.all(places.map(sayHi));
    // Those that are let in wait for the model, and hold what the others need.
    await server.denied(5);
    gate.open();
    expect(await running).toEqual(places.map(() => [hello.text]));

    const statuses = server.events.map(({ status, errorCode }) => [status, errorCode]);
    expect(statuses.filter(([status]) => status === 200)).toHaveLength(places.length);
    const denials = statuses.filter(([status]) => status !== 200);
    expect(denials).toEqual(denials.map(() => [429, "month_limit_exceeded"]));
    await vi.waitFor(async () => expect((await accounts.balance("acct_pro")).windows.month.heldMicro).toBe(0));
    const { windows, prepaid } = await accounts.balance("acct_pro");
    expect(windows.month.usedMicro).toBe(monthMicro);
    const spent = places.length * costMicro - leftMicro;
    expect(prepaid).toMatchObject({ balanceMicro: prepaidMicro - spent, overdrawnMicro: 0, heldMicro: 0 });

    const { entries } = await accounts.history("acct_pro");
    let usedMicro = 0;
    for (const { kind, amountMicro, prepaidMicro: paid = 0 } of [...entries].reverse()) {
      if (kind !== "charge") continue;
      usedMicro += amountMicro - paid;
      if (paid > 0) expect(usedMicro).toBe(monthMicro);
    }
  });
});
