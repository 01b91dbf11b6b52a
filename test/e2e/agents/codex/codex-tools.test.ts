import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FakeRequest } from "../../../../src/testing.js";
import { withAgentSession } from "../support/agent-session.js";
import { chatSpeech } from "../support/chat-speech.js";
import { tokens } from "../support/model-turn.js";
import { smallPicture } from "../support/small-media.js";
import { runCodex, textsOf } from "./run-codex.js";

const onChat = { speech: chatSpeech };

interface ChatText {
  role: string;
  content: unknown;
  tool_call_id?: string;
}

it(
  "runs two commands of one turn, and sends back what they print",
  withAgentSession(onChat, async (session) => {
    const command = (id: string, cmd: string) => ({ id, name: "exec_command", arguments: { cmd } });
    session.script([
      {
        thought: "Two files are wanted.",
        text: "I make both files.",
        calls: [
          command("call_a", "echo first; echo one > one.txt"),
          command("call_b", "echo second; echo two > two.txt"),
        ],
        tokens: tokens({ input: 9100, output: 90, reasoning: 21 }),
      },
      { text: "Both are there.", tokens: tokens({ input: 9333, cachedInput: 9100, output: 12 }) },
    ]);
    const run = await runCodex(session, "Make two files.");
    expect(textsOf(run)).toEqual(["I make both files.", "Both are there."]);
    expect(readFileSync(join(session.work, "one.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(join(session.work, "two.txt"), "utf8")).toBe("two\n");
    expect(session.upstream.lastRequest.json.messages.slice(-3)).toMatchObject([
      {
        role: "assistant",
        reasoning_content: "Two files are wanted.",
        content: "I make both files.",
        tool_calls: [{ id: "call_a" }, { id: "call_b" }],
      },
      { role: "tool", tool_call_id: "call_a", content: expect.stringContaining("first") },
      { role: "tool", tool_call_id: "call_b", content: expect.stringContaining("second") },
    ]);
  }),
);

it(
  "applies a patch, by a tool whose input is no JSON",
  withAgentSession(onChat, async (session) => {
    const input = "*** Begin Patch\n*** Add File: made.txt\n+made by a patch\n*** End Patch";
    session.script([
      { calls: [{ id: "call_a", name: "apply_patch", input }], tokens: tokens({ input: 50, output: 9 }) },
      { text: "Patched.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const run = await runCodex(session, "Make a file.", { model: "gpt-5.5" });
    expect(readFileSync(join(session.work, "made.txt"), "utf8")).toBe("made by a patch\n");
    expect(textsOf(run)).toEqual(["Patched."]);
    expect(session.upstream.lastRequest.json.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call_a" });
  }),
);

it(
  "starts another agent and waits for it, by the tools of a namespace",
  withAgentSession(onChat, async (session) => {
    const task = "Count the files.";
    const count = tokens({ input: 77, output: 7 });
    const isTask = ({ json }: FakeRequest) =>
      json.messages.some(({ role, content }: ChatText) => role === "user" && content === task);
    // Codex tells its agent when another one has ended. That may come with the result of any tool, or in a turn of its own.
    const isNotice = ({ json }: FakeRequest) =>
      String(json.messages.at(-1).content).startsWith("<subagent_notification>");
    const final = { text: "It has counted.", tokens: count };
    const resultOf = (request: FakeRequest, call: string) =>
      request.json.messages.find((message: ChatText) => message.tool_call_id === call).content;
    session.script([
      {
        calls: [{ id: "call_a", name: "multi_agent_v1__spawn_agent", arguments: { message: task } }],
        tokens: count,
      },
      { text: "There are none.", tokens: count, isFor: isTask },
      (request) => {
        const { agent_id: target } = JSON.parse(resultOf(request, "call_a"));
        const wait = { id: "call_b", name: "multi_agent_v1__wait_agent", arguments: { targets: [target] } };
        return { calls: [wait], tokens: count };
      },
      final,
      { ...final, isFor: isNotice, isOptional: true },
    ]);
    const run = await runCodex(session, "Have the files counted.");
    expect([...new Set(textsOf(run))]).toEqual([final.text]);
    expect(resultOf(session.upstream.lastRequest, "call_b")).toContain("There are none.");
  }),
);

it(
  "looks at a picture",
  withAgentSession(onChat, async (session) => {
    const path = join(session.work, "picture.png");
    writeFileSync(path, smallPicture);
    session.script([
      { calls: [{ id: "call_a", name: "view_image", arguments: { path } }], tokens: tokens({ input: 50, output: 9 }) },
      { text: "One pixel.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const run = await runCodex(session, "What is in the picture?");
    expect(textsOf(run)).toEqual(["One pixel."]);
    expect(session.upstream.lastRequest.json.messages.slice(-2)).toMatchObject([
      { role: "tool", tool_call_id: "call_a" },
      { role: "user", content: expect.arrayContaining([{ type: "image_url", image_url: expect.anything() }]) },
    ]);
  }),
);

it(
  "looks up tools that it had not listed, and can call them then",
  withAgentSession(onChat, async (session) => {
    session.script([
      {
        calls: [{ id: "call_a", name: "tool_search", arguments: { query: "spawn agent" } }],
        tokens: tokens({ input: 50, output: 9 }),
      },
      { text: "They are there.", tokens: tokens({ input: 60, output: 2 }) },
    ]);
    const run = await runCodex(session, "Look up tools.", { model: "gpt-5.5" });
    expect(textsOf(run)).toEqual(["They are there."]);
    const [before, after] = session.upstream.requests.map(({ json }) =>
      json.tools.map((tool: { function: { name: string } }) => tool.function.name),
    );
    const added = after.filter((name: string) => !before.includes(name));
    expect(added).toContain("multi_agent_v1__spawn_agent");
    expect(session.upstream.lastRequest.json.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call_a" });
  }),
);
