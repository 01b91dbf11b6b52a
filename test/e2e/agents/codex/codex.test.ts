import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withAgentSession } from "../support/agent-session.js";
import { chatSpeech } from "../support/chat-speech.js";
import { tokens } from "../support/model-turn.js";
import { runCodex, textsOf } from "./run-codex.js";

const onChat = { speech: chatSpeech };

interface ChatText {
  role: string;
  content: unknown;
  tool_call_id?: string;
}

it(
  "gets a text, and the counts of its tokens",
  withAgentSession(onChat, async (session) => {
    const counts = { input: 9001, cachedInput: 4000, cacheWrite: 1001, output: 31, reasoning: 7 };
    session.script([{ text: "Hello there.", tokens: tokens(counts) }]);
    const run = await runCodex(session, "Say hi.");
    expect(run.exitCode).toBe(0);
    expect(textsOf(run)).toEqual(["Hello there."]);
    expect(run.events.at(-1)).toMatchObject({
      type: "turn.completed",
      usage: { input_tokens: 9001, cached_input_tokens: 4000, output_tokens: 31, reasoning_output_tokens: 7 },
    });
  }),
);

it(
  "gets JSON by a schema",
  withAgentSession(onChat, async (session) => {
    const schema = {
      type: "object",
      properties: { files: { type: "integer" } },
      required: ["files"],
      additionalProperties: false,
    };
    const schemaFile = join(session.work, "schema.json");
    writeFileSync(schemaFile, JSON.stringify(schema));
    session.script([{ text: '{"files":3}', tokens: tokens({ input: 90, output: 5 }) }]);
    const run = await runCodex(session, "How many files?", { args: ["--output-schema", schemaFile] });
    expect(textsOf(run)).toEqual(['{"files":3}']);
    expect(session.upstream.lastRequest.json.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { schema, strict: true },
    });
  }),
);

it(
  "goes on with its last conversation",
  withAgentSession(onChat, async (session) => {
    session.script([
      { text: "Pleased to meet you.", tokens: tokens({ input: 500, output: 5 }) },
      { text: "Your name is Ada.", tokens: tokens({ input: 520, cachedInput: 500, output: 6 }) },
    ]);
    await runCodex(session, "My name is Ada.");
    const run = await runCodex(session, "What is my name?", { args: ["resume", "--last"] });
    expect(textsOf(run)).toEqual(["Your name is Ada."]);
    const sent = session.upstream.lastRequest.json.messages.filter(({ role }: ChatText) => role !== "developer");
    expect(sent).toMatchObject([
      { role: "user" },
      { role: "user", content: "My name is Ada." },
      { role: "assistant", content: "Pleased to meet you." },
      { role: "user", content: "What is my name?" },
    ]);
  }),
);
