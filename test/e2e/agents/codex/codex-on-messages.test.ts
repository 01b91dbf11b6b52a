import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { anthropic } from "../../../../src/providers/presets.js";
import { withAgentSession } from "../support/agent-session.js";
import { messagesSpeech } from "../support/messages-speech.js";
import { tokens } from "../support/model-turn.js";
import { runCodex, textsOf } from "./run-codex.js";

const onMessages = {
  speech: messagesSpeech,
  provider: ({ url }: { url: string }) => anthropic({ baseURL: url, apiKey: "sk-upstream-secret" }),
};

it(
  "works in front of a server that speaks Messages alone, which gets its own thoughts back",
  withAgentSession(onMessages, async (session) => {
    const patch = "*** Begin Patch\n*** Add File: made.txt\n+made by a patch\n*** End Patch";
    session.script([
      {
        thought: "Two tools are wanted.",
        text: "I use both.",
        calls: [
          { id: "toolu_a", name: "exec_command", arguments: { cmd: "echo one > one.txt" } },
          { id: "toolu_b", name: "apply_patch", input: patch },
        ],
        tokens: tokens({ input: 9100, cachedInput: 100, cacheWrite: 2001, output: 90 }),
      },
      { text: "Both are there.", tokens: tokens({ input: 9333, cachedInput: 9100, output: 12 }) },
    ]);
    const run = await runCodex(session, "Make two files.", { model: "gpt-5.5" });
    expect(textsOf(run)).toEqual(["I use both.", "Both are there."]);
    expect(readFileSync(join(session.work, "one.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(join(session.work, "made.txt"), "utf8")).toBe("made by a patch\n");
    const { messages } = session.upstream.lastRequest.json;
    expect(messages.slice(-2)).toMatchObject([
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Two tools are wanted.", signature: "sealed" },
          { type: "text", text: "I use both." },
          { type: "tool_use", id: "toolu_a", name: "exec_command" },
          { type: "tool_use", id: "toolu_b", name: "apply_patch", input: { input: patch } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_a" },
          { type: "tool_result", tool_use_id: "toolu_b" },
        ],
      },
    ]);
  }),
);
