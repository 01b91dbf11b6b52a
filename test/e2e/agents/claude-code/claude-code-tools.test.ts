import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FakeRequest } from "../../../../src/testing.js";
import { withAgentSession } from "../support/agent-session.js";
import { chatSpeech } from "../support/chat-speech.js";
import { tokens } from "../support/model-turn.js";
import { smallDocument, smallPicture } from "../support/small-media.js";
import { runClaudeCode } from "./run-claude-code.js";

const onChat = { speech: chatSpeech };

it(
  "runs two commands of one turn, and sends back what they print and what the model thought",
  withAgentSession(onChat, async (session) => {
    const command = (id: string, text: string) => ({ id, name: "Bash", arguments: { command: text } });
    // Ids as some servers give them, which Anthropic's API does not allow.
    session.script([
      {
        thought: "Two files are wanted.",
        text: "I make both files.",
        calls: [
          command("functions.Bash:0", "echo first; echo one > one.txt"),
          command("functions.Bash:1", "echo second; echo two > two.txt"),
        ],
        tokens: tokens({ input: 9100, output: 90, reasoning: 21 }),
      },
      { text: "Both are there.", tokens: tokens({ input: 9333, cachedInput: 9100, output: 12 }) },
    ]);
    const run = await runClaudeCode(session, "Make two files.", { args: ["--allowedTools", "Bash"] });
    expect(run.result).toMatchObject({ result: "Both are there.", num_turns: 3 });
    expect(readFileSync(join(session.work, "one.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(join(session.work, "two.txt"), "utf8")).toBe("two\n");
    expect(session.upstream.lastRequest.json.messages.slice(-3)).toMatchObject([
      {
        role: "assistant",
        reasoning_content: "Two files are wanted.",
        content: "I make both files.",
        tool_calls: [{ id: "functions.Bash:0" }, { id: "functions.Bash:1" }],
      },
      { role: "tool", tool_call_id: "functions.Bash:0", content: "first" },
      { role: "tool", tool_call_id: "functions.Bash:1", content: "second" },
    ]);
  }),
);

it(
  "reads a picture",
  withAgentSession(onChat, async (session) => {
    const picture = join(session.work, "picture.png");
    writeFileSync(picture, smallPicture);
    session.script([
      {
        calls: [{ id: "call_a", name: "Read", arguments: { file_path: picture } }],
        tokens: tokens({ input: 50, output: 9 }),
      },
      { text: "One pixel.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const run = await runClaudeCode(session, "What is in the picture?", { args: ["--allowedTools", "Read"] });
    expect(run.result.result).toBe("One pixel.");
    expect(session.upstream.lastRequest.json.messages.slice(-2)).toMatchObject([
      { role: "tool", tool_call_id: "call_a" },
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } }],
      },
    ]);
  }),
);

it(
  "reads a PDF",
  withAgentSession(onChat, async (session) => {
    const paper = join(session.work, "paper.pdf");
    writeFileSync(paper, smallDocument);
    const call = { id: "call_a", name: "Read", arguments: { file_path: paper } };
    session.script([
      { calls: [call], tokens: tokens({ input: 50, output: 9 }) },
      { text: "An empty page.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const { result } = await runClaudeCode(session, "What is in the paper?", { args: ["--allowedTools", "Read"] });
    expect(result.result).toBe("An empty page.");
    const data = `data:application/pdf;base64,${smallDocument.toString("base64")}`;
    expect(session.upstream.lastRequest.json.messages.slice(-2)).toMatchObject([
      { role: "tool", tool_call_id: "call_a" },
      { role: "user", content: [{ type: "file", file: { file_data: data } }] },
    ]);
  }),
);

it(
  "looks up a tool that it had not listed, and can call it then",
  withAgentSession(onChat, async (session) => {
    const lookUp = { query: "select:WebFetch", max_results: 1 };
    session.script([
      { calls: [{ id: "call_a", name: "ToolSearch", arguments: lookUp }], tokens: tokens({ input: 50, output: 9 }) },
      { text: "It is there.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const { result } = await runClaudeCode(session, "Look up the tool that fetches pages.");
    expect(result.result).toBe("It is there.");
    const [before, after] = session.upstream.requests.map(({ json }) =>
      json.tools.map((tool: { function: { name: string } }) => tool.function.name),
    );
    expect(before).not.toContain("WebFetch");
    expect(after).toContain("WebFetch");
    expect(session.upstream.lastRequest.json.messages.at(-1)).toMatchObject({
      role: "tool",
      tool_call_id: "call_a",
      content: expect.stringContaining("WebFetch"),
    });
  }),
);

it(
  "starts another agent and waits for it",
  withAgentSession(onChat, async (session) => {
    const task = "Count the files.";
    const count = tokens({ input: 77, output: 7 });
    const isTask = ({ json }: FakeRequest) => json.messages.at(-2).content?.includes?.(task);
    // Claude Code may tell its agent in a turn of its own that another one has ended.
    const isNotice = ({ json }: FakeRequest) => JSON.stringify(json.messages.at(-1)).includes("<task-notification>");
    const final = { text: "It has counted.", tokens: count };
    const values = { description: "Counts files", prompt: task, run_in_background: false };
    session.script([
      { calls: [{ id: "call_a", name: "Agent", arguments: values }], tokens: count },
      { text: "There are none.", tokens: count, isFor: isTask },
      final,
      { ...final, isFor: isNotice, isOptional: true },
    ]);
    const { result } = await runClaudeCode(session, "Have the files counted.");
    expect(result.result).toBe("It has counted.");
    expect(session.upstream.lastRequest.json.messages).toContainEqual({
      role: "tool",
      tool_call_id: "call_a",
      content: expect.stringContaining("There are none."),
    });
  }),
);
