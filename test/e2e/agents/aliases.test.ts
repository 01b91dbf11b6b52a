import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { runClaudeCode } from "./claude-code/run-claude-code.js";
import { runCodex, textsOf } from "./codex/run-codex.js";
import { agentModel } from "./support/agent-model.js";
import { type AgentSession, withAgentSession } from "./support/agent-session.js";
import { chatSpeech } from "./support/chat-speech.js";
import { tokens } from "./support/model-turn.js";

/** The plan names the id alone. Codex knows `gpt-5.5`, and offers it more tools than others. */
const onAliases = {
  speech: chatSpeech,
  gateway: {
    models: [{ ...agentModel, id: "team/smart", aliases: ["claude-sonnet-4-5", "gpt-5-codex", "gpt-5.5"] }],
    plans: memoryPlanStore({ pro: { models: ["team/smart"], credits: { session: 100 } } }),
  },
};

it(
  "Claude Code runs a command with a model that it calls by an alias",
  withAgentSession(onAliases, async (session) => {
    session.script([
      {
        calls: [{ id: "toolu_a", name: "Bash", arguments: { command: "echo one > one.txt" } }],
        tokens: tokens({ input: 9100, output: 90 }),
      },
      { text: "It is there.", tokens: tokens({ input: 9333, cachedInput: 9100, output: 12 }) },
    ]);
    const { result } = await runClaudeCode(session, "Make a file.", {
      args: ["--allowedTools", "Bash"],
      environment: { ANTHROPIC_MODEL: "claude-sonnet-4-5", CLAUDE_CODE_MAX_RETRIES: "0" },
    });
    expect(result).toMatchObject({ is_error: false, result: "It is there." });
    expect(Object.keys(result.modelUsage)).toEqual(["claude-sonnet-4-5"]);
    expect(readFileSync(join(session.work, "one.txt"), "utf8")).toBe("one\n");
    await expectCallsOf(session, "claude-sonnet-4-5");
  }),
);

it(
  "Codex runs a command with a model that it calls by an alias",
  withAgentSession(onAliases, async (session) => {
    session.script([
      {
        calls: [{ id: "call_a", name: "exec_command", arguments: { cmd: "echo one > one.txt" } }],
        tokens: tokens({ input: 50, output: 9 }),
      },
      { text: "It is there.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const run = await runCodex(session, "Make a file.", { model: "gpt-5-codex" });
    expect(textsOf(run)).toEqual(["It is there."]);
    expect(readFileSync(join(session.work, "one.txt"), "utf8")).toBe("one\n");
    await expectCallsOf(session, "gpt-5-codex");
  }),
);

it(
  "Codex applies a patch with a model that has an alias which it knows",
  withAgentSession(onAliases, async (session) => {
    const input = "*** Begin Patch\n*** Add File: made.txt\n+made by a patch\n*** End Patch";
    session.script([
      { calls: [{ id: "call_a", name: "apply_patch", input }], tokens: tokens({ input: 50, output: 9 }) },
      { text: "Patched.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const run = await runCodex(session, "Make a file.", { model: "gpt-5.5" });
    expect(textsOf(run)).toEqual(["Patched."]);
    expect(readFileSync(join(session.work, "made.txt"), "utf8")).toBe("made by a patch\n");
    await expectCallsOf(session, "gpt-5.5");
  }),
);

/** Each of the two calls was asked for by the alias, sent upstream by the server's own name, and filed under the id. */
async function expectCallsOf({ server, upstream }: AgentSession, alias: string): Promise<void> {
  expect(upstream.requests.map(({ json }) => json.model)).toEqual(["upstream-small", "upstream-small"]);
  const calls = server.events.filter(({ callId }) => callId !== undefined);
  expect(calls.map(({ model, requestedModel }) => [model, requestedModel])).toEqual([
    ["team/smart", alias],
    ["team/smart", alias],
  ]);
  const usage = await server.gateway.accounts.usage("acct_pro", { by: ["model"] });
  expect(usage.map(({ by, requests }) => [by, requests])).toEqual([[{ model: "team/smart" }, 2]]);
}
