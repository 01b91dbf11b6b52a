import { expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { errorBody, type FakeAnswer, type FakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { runClaudeCode } from "./claude-code/run-claude-code.js";
import { runCodex, textsOf } from "./codex/run-codex.js";
import { withAgentSession } from "./support/agent-session.js";
import { chatSpeech } from "./support/chat-speech.js";
import { type ModelTurn, type ServerSpeech, tokens } from "./support/model-turn.js";

/** A server whose chat template takes a system message as the first message alone. */
const strictSpeech: ServerSpeech = {
  ...chatSpeech,
  whole: (turn) => strictly(chatSpeech.whole(turn)),
  stream: (turn) => strictly(chatSpeech.stream(turn)),
};

function strictly(answer: FakeAnswer): FakeAnswer {
  const refusal = wholeAnswer(errorBody("System message must be at the beginning."), { status: 400 });
  return (request, response) => {
    const roles: string[] = request.json.messages.map(({ role }: { role: string }) => role);
    const isRefused = roles.slice(1).some((role) => role === "system" || role === "developer");
    return (isRefused ? refusal : answer)(request, response);
  };
}

const inFrontOfIt = {
  speech: strictSpeech,
  provider: ({ url }: FakeUpstream) =>
    openAICompatible({ baseURL: url, dialect: { developerRole: "system", laterSystemRole: "user" } }),
};

const hello: ModelTurn = { text: "Hello there.", tokens: tokens({ input: 50, output: 4 }) };

it(
  "Claude Code works in front of a server that takes one system message",
  withAgentSession(inFrontOfIt, async (session) => {
    session.script([hello]);
    const { result } = await runClaudeCode(session, "Say hi.");
    expect(result.result).toBe("Hello there.");
  }),
);

it(
  "Codex works in front of a server that takes one system message",
  withAgentSession(inFrontOfIt, async (session) => {
    session.script([hello]);
    expect(textsOf(await runCodex(session, "Say hi."))).toEqual(["Hello there."]);
  }),
);
