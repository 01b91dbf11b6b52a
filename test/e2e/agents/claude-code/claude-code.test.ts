import { expect, it } from "vitest";
import { withAgentSession } from "../support/agent-session.js";
import { chatSpeech } from "../support/chat-speech.js";
import { tokens } from "../support/model-turn.js";
import { runClaudeCode } from "./run-claude-code.js";

const onChat = { speech: chatSpeech };

it(
  "gets a text, and the counts of its tokens",
  withAgentSession(onChat, async (session) => {
    const counts = { input: 9001, cachedInput: 4000, cacheWrite: 1001, output: 31, reasoning: 7 };
    session.script([{ text: "Hello there.", tokens: tokens(counts) }]);
    const { exitCode, result } = await runClaudeCode(session, "Say hi.");
    expect(exitCode).toBe(0);
    expect(result).toMatchObject({
      result: "Hello there.",
      usage: {
        input_tokens: 4000,
        cache_read_input_tokens: 4000,
        cache_creation_input_tokens: 1001,
        output_tokens: 31,
      },
    });
    const [{ messages, max_tokens: cap }] = session.upstream.requests.map(({ json }) => json);
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(["system", "user", "system"]);
    expect(cap).toBe(8000);
  }),
);

it(
  "has a text that was cut off continued",
  withAgentSession(onChat, async (session) => {
    session.script([
      { text: "One, two, ", isCut: true, tokens: tokens({ input: 50, output: 8000 }) },
      { text: "three.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const { result } = await runClaudeCode(session, "Count to three.");
    expect(result).toMatchObject({ is_error: false, result: "three.", usage: { output_tokens: 8002 } });
    expect(session.upstream.lastRequest.json.messages.slice(-2)).toMatchObject([
      { role: "assistant", content: "One, two, " },
      { role: "user" },
    ]);
  }),
);

it(
  "counts what is in its context, free of charge",
  withAgentSession(onChat, async (session) => {
    const { result } = await runClaudeCode(session, "/context");
    expect(result.result).toContain("acme/small");
    const { events } = session.server;
    expect(events.length).toBeGreaterThan(0);
    expect(new Set(events.map(({ endpoint, status }) => `${endpoint} ${status}`))).toEqual(
      new Set(["count_tokens 200"]),
    );
    expect(events.every(({ chargedMicro }) => chargedMicro === 0)).toBe(true);
  }),
);

it(
  "goes on with its last conversation",
  withAgentSession(onChat, async (session) => {
    session.script([
      { text: "Pleased to meet you.", tokens: tokens({ input: 500, output: 5 }) },
      { text: "Your name is Ada.", tokens: tokens({ input: 520, cachedInput: 500, output: 6 }) },
    ]);
    await runClaudeCode(session, "My name is Ada.");
    const { result } = await runClaudeCode(session, "What is my name?", { args: ["--continue"] });
    expect(result.result).toBe("Your name is Ada.");
    expect(session.upstream.lastRequest.json.messages.slice(-2)).toMatchObject([
      { role: "assistant", content: "Pleased to meet you." },
      { role: "user", content: expect.stringContaining("What is my name?") },
    ]);
  }),
);

it(
  "gets JSON by a schema",
  withAgentSession(onChat, async (session) => {
    const schema = { type: "object", properties: { files: { type: "integer" } }, required: ["files"] };
    const call = { id: "call_a", name: "StructuredOutput", arguments: { files: 3 } };
    session.script([{ calls: [call], tokens: tokens({ input: 90, output: 5 }) }]);
    const args = ["--json-schema", JSON.stringify(schema)];
    const { result } = await runClaudeCode(session, "How many files?", { args });
    expect(result).toMatchObject({ is_error: false, structured_output: { files: 3 } });
  }),
);

it(
  "calls a model whose name it knows, with all that this one can do",
  withAgentSession(onChat, async (session) => {
    session.script([{ text: "Hello there.", tokens: tokens({ input: 90, output: 5 }) }]);
    const environment = { ANTHROPIC_MODEL: "claude-sonnet-4-5" };
    const { result } = await runClaudeCode(session, "Say hi.", { environment });
    expect(result.result).toBe("Hello there.");
  }),
);
