import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { pageOf, root } from "./documentation.js";

it("the agents' page names the versions that are tested", () => {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(`${root}test/e2e/agents/package.json`, "utf8"),
  );
  const named = /Codex (\d+\.\d+\.\d+) and Claude Code (\d+\.\d+\.\d+)/.exec(pageOf("docs/agents.md"));
  expect(manifest.dependencies).toEqual({
    "@openai/codex": named?.[1],
    "@anthropic-ai/claude-code": named?.[2],
  });
});
