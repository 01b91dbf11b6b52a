import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { anthropic } from "../../../../src/providers/presets.js";
import { withAgentSession } from "../support/agent-session.js";
import { messagesSpeech } from "../support/messages-speech.js";
import { tokens } from "../support/model-turn.js";
import { startRequestRecorder } from "../support/request-recorder.js";
import { runClaudeCode } from "./run-claude-code.js";

const onMessages = {
  speech: messagesSpeech,
  provider: ({ url }: { url: string }) => anthropic({ baseURL: url, apiKey: "sk-upstream-secret" }),
};

it(
  "works in front of a server that speaks its own API, which gets its very bytes",
  withAgentSession(onMessages, async (session) => {
    const recorder = await startRequestRecorder(session.gatewayURL);
    session.script([
      {
        thought: "Two files are wanted.",
        text: "I make both files.",
        calls: [
          { id: "toolu_a", name: "Bash", arguments: { command: "echo one > one.txt" } },
          { id: "toolu_b", name: "Bash", arguments: { command: "echo two > two.txt" } },
        ],
        tokens: tokens({ input: 9100, cachedInput: 100, cacheWrite: 2001, output: 90 }),
      },
      { text: "Both are there.", tokens: tokens({ input: 9333, cachedInput: 9100, output: 12 }) },
    ]);
    const { result } = await runClaudeCode(session, "Make two files.", {
      args: ["--allowedTools", "Bash"],
      environment: { ANTHROPIC_BASE_URL: recorder.url },
    });
    await recorder.close();
    expect(result.result).toBe("Both are there.");
    expect(readFileSync(join(session.work, "one.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(join(session.work, "two.txt"), "utf8")).toBe("two\n");

    const own = recorder.requests.map(({ body }) =>
      body
        .replace('"model":"acme/small"', '"model":"upstream-small"')
        .replace('"max_tokens":32000', '"max_tokens":8000')
        // It names the user's device and account.
        .replace(/,"metadata":\{"user_id":"(?:[^"\\]|\\.)*"\}/, ""),
    );
    expect(session.upstream.requests.map(({ body }) => body.toString())).toEqual(own);
    for (const [index, { headers }] of session.upstream.requests.entries()) {
      for (const name of ["anthropic-version", "anthropic-beta"]) {
        expect(headers[name]).toBe(recorder.requests[index]?.headers[name]);
      }
      expect(headers["anthropic-beta"]).toContain("claude-code-");
      expect(headers).not.toHaveProperty("x-claude-code-session-id");
      expect(headers).toMatchObject({ "x-api-key": "sk-upstream-secret" });
      expect(headers).not.toHaveProperty("authorization");
    }
    const [replayed] = session.upstream.lastRequest.json.messages.filter(
      ({ role }: { role: string }) => role === "assistant",
    );
    expect(replayed.content[0]).toMatchObject({
      type: "thinking",
      thinking: "Two files are wanted.",
      signature: "sealed",
    });
  }),
);
