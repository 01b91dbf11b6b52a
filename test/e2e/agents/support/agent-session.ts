import { expect, vi } from "vitest";
import type { TokenCounts } from "../../../../src/prices/usage-counts.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { type FakeAnswer, type FakeRequest, type FakeUpstream, startFakeUpstream } from "../../../../src/testing.js";
import { type ClientServer, type ServerOptions, startServer } from "../../clients/start-server.js";
import { makeAgentFolders } from "./agent-folders.js";
import { agentModel, costOf } from "./agent-model.js";
import { type AgentPlace, basePath, placeOf } from "./agent-place.js";
import { closeAll } from "./close-all.js";
import { processesOf } from "./leftover-processes.js";
import type { ScriptedTurn, ServerSpeech } from "./model-turn.js";
import { startOutsideTrap } from "./outside-trap.js";

/** Models of which the agents know what they can do: each gets tools and members of its own. */
const knownNames = ["gpt-5.5", "claude-sonnet-4-5"];

/** A gateway on loopback in front of a model that says what is in a script, and the folders of an agent. */
export interface AgentSession extends AgentPlace {
  readonly server: ClientServer;
  readonly upstream: FakeUpstream;
  /** What the model says next, request by request. */
  script(turns: readonly ScriptedTurn[]): void;
}

export interface SessionOptions {
  speech: ServerSpeech;
  provider?: (upstream: FakeUpstream) => ReturnType<typeof openAICompatible>;
  gateway?: ServerOptions;
}

/**
 * Runs a test with a session of its own. At the end all of the script was said but for what is optional, the account was charged for what the
 * server counted and for nothing else, nothing is held, and no host but this one was called.
 */
export function withAgentSession(options: SessionOptions, run: (session: AgentSession) => Promise<void>) {
  return async () => {
    const closers: (() => unknown)[] = [];
    try {
      const folders = makeAgentFolders();
      closers.unshift(folders.remove);
      const trap = await startOutsideTrap();
      closers.unshift(trap.close);
      const upstream = await startFakeUpstream();
      closers.unshift(upstream.close);
      const server = await startServer({ ...gatewayOptions(options, upstream), ...options.gateway });
      closers.unshift(server.close);

      const script = new Script(options.speech);
      upstream.reply((request, response) => script.next(request)(request, response));
      await run({ ...placeOf(folders, server, trap), server, upstream, script: (turns) => script.add(turns) });
      expect(script.left).toBe(0);
      expect(trap.calls).toEqual([]);
      await vi.waitFor(() => expect(processesOf(folders.home)).toEqual([]), { timeout: 10_000 });
      await server.checkBooks();
      await expectCharges(server, script.counts);
    } finally {
      await closeAll(closers);
    }
  };
}

function gatewayOptions({ speech, provider }: SessionOptions, upstream: FakeUpstream) {
  return {
    basePath,
    models: [agentModel, ...knownNames.map((id) => ({ ...agentModel, id }))],
    plans: memoryPlanStore({ pro: { models: ["*"], credits: { session: 100, week: 500, month: 1500 } } }),
    providers: { scripted: (provider ?? usualProvider(speech))(upstream) },
  };
}

function usualProvider({ operation }: ServerSpeech) {
  return ({ url }: FakeUpstream) =>
    openAICompatible({ baseURL: url, apiKey: "sk-upstream-secret", operations: [operation] });
}

class Script {
  readonly #speech: ServerSpeech;
  readonly #turns: ScriptedTurn[] = [];
  /** What the server has counted. */
  readonly counts: TokenCounts[] = [];

  constructor(speech: ServerSpeech) {
    this.#speech = speech;
  }

  get left(): number {
    return this.#turns.filter((turn) => !("isOptional" in turn && turn.isOptional)).length;
  }

  add(turns: readonly ScriptedTurn[]): void {
    this.#turns.push(...turns);
  }

  next(request: FakeRequest): FakeAnswer {
    const place = this.#turns.findIndex((turn) => !("isFor" in turn) || turn.isFor?.(request) === true);
    const [turn] = place < 0 ? [] : this.#turns.splice(place, 1);
    // The test fails of it when the upstream is closed.
    if (turn === undefined) throw new Error(`Nothing is left of the script for one more request to ${request.url}.`);
    const said = typeof turn === "function" ? turn(request) : turn;
    if (said.tokens !== undefined) this.counts.push(said.tokens);
    if ("answer" in said) return said.answer;
    return request.json.stream ? this.#speech.stream(said) : this.#speech.whole(said);
  }
}

/** What was counted was charged, to the micro-credit, in the journal as in the events. */
async function expectCharges({ gateway, events }: ClientServer, counts: readonly TokenCounts[]): Promise<void> {
  const counted = events.filter(({ usageSource }) => usageSource === "provider");
  const sorted = (numbers: readonly number[]) => [...numbers].sort((one, other) => one - other);
  expect(sorted(counted.map(({ chargedMicro }) => chargedMicro))).toEqual(sorted(counts.map(costOf)));
  const charged = events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0);
  const rows = await gateway.accounts.usage("acct_pro");
  expect(rows.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0)).toBe(charged);
  const { entries } = await gateway.accounts.history("acct_pro");
  expect(entries.reduce((sum, { amountMicro }) => sum + amountMicro, 0)).toBe(charged);
}
