import { afterEach, describe, expect, it } from "vitest";
import { allPairs, type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

/** How clients ask a model to reason. Claude Code asks every model, and Codex those that it does not know, too. */
const asked: Readonly<Record<Spoken, Record<string, unknown>>> = {
  "chat/completions": { reasoning_effort: "high", max_tokens: 4000 },
  responses: { reasoning: { effort: "high", summary: "auto" }, max_output_tokens: 4000 },
  messages: {
    thinking: { type: "enabled", budget_tokens: 2000 },
    output_config: { effort: "high" },
    max_tokens: 4000,
  },
};

const reasons = (sent: Record<string, unknown>) =>
  ["reasoning_effort", "reasoning", "thinking", "output_config"].filter((name) => sent[name] !== undefined);

const capabilities = {
  true: { reasoning: true },
  false: { reasoning: false },
  absent: {},
  "a word": { reasoning: "x" },
};

describe.each(allPairs)("$client on $target", ({ client, target, isTranslated }) => {
  it.each(Object.entries(capabilities))("asks to reason where `reasoning` is %s", async (said, own) => {
    pair = await startPair(client, target, { model: { capabilities: own, maxOutputTokens: 8000 } });
    expect((await pair.post(asked[client])).status).toBe(200);
    const isAsked = said === "true" || !isTranslated;
    expect(reasons(pair.sent()).length > 0).toBe(isAsked);
  });
});
