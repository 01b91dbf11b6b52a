import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openAI } from "../../../../src/providers/presets.js";
import { withAgentSession } from "../support/agent-session.js";
import { tokens } from "../support/model-turn.js";
import { responsesSpeech } from "../support/responses-speech.js";
import { runCodex, textsOf } from "./run-codex.js";

/** With the rules for members of requests: what Codex sends is known, all of it. */
const toOpenAI = ({ url }: { url: string }) => openAI({ baseURL: url, apiKey: "sk-upstream-secret" });

it(
  "works in front of a server that speaks its own API, which gets its own tools and thoughts",
  withAgentSession({ speech: responsesSpeech, provider: toOpenAI }, async (session) => {
    const patch = "*** Begin Patch\n*** Add File: made.txt\n+made by a patch\n*** End Patch";
    session.script([
      {
        thought: "Two tools are wanted.",
        text: "I use both.",
        calls: [
          { id: "call_a", name: "exec_command", arguments: { cmd: "echo one > one.txt" } },
          { id: "call_b", name: "apply_patch", input: patch },
        ],
        tokens: tokens({ input: 9100, cachedInput: 100, cacheWrite: 2001, output: 90, reasoning: 21 }),
      },
      { text: "Both are there.", tokens: tokens({ input: 9333, cachedInput: 9100, output: 12 }) },
    ]);
    const run = await runCodex(session, "Make two files.", { model: "gpt-5.5" });
    expect(textsOf(run)).toEqual(["I use both.", "Both are there."]);
    expect(readFileSync(join(session.work, "one.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(join(session.work, "made.txt"), "utf8")).toBe("made by a patch\n");

    const [first, second] = session.upstream.requests;
    const { tools, model, store, client_metadata: metadata } = first?.json ?? {};
    // Not `web_search`: its calls would cost more than the tokens that are counted.
    const types = new Set(tools.map(({ type }: { type: string }) => type));
    expect(types).toEqual(new Set(["function", "custom", "tool_search"]));
    expect({ model, store }).toEqual({ model: "upstream-small", store: false });
    expect(metadata).toHaveProperty("session_id");
    expect(first?.headers).not.toHaveProperty("x-codex-turn-metadata");
    expect(second?.json.input.slice(-6)).toMatchObject([
      { type: "reasoning", encrypted_content: "sealed" },
      { type: "message", role: "assistant" },
      { type: "function_call", call_id: "call_a" },
      { type: "custom_tool_call", call_id: "call_b", input: patch },
      { type: "function_call_output", call_id: "call_a" },
      { type: "custom_tool_call_output", call_id: "call_b" },
    ]);
  }),
);
