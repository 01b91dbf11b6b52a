import { describe, expect, it } from "vitest";
import { type FakeAnswer, wholeAnswer } from "../../../src/testing.js";
import { startEvery } from "../../support/every-operation.js";
import { hasPython, runPython } from "./support/run-python.js";

const logprobOf = (token: number) => -token / 128;
const greedyAbove = "o".charCodeAt(0);

/** What a server says of each token of a prompt, the last choice first. Some tokens are not the likeliest. */
const scoring: FakeAnswer = (request, response) => {
  const { prompt, echo, model } = request.json;
  const prompts: (string | number[])[] = Array.isArray(prompt) && typeof prompt[0] !== "number" ? prompt : [prompt];
  const choices = prompts.map((each, index) => {
    const tokens = typeof each === "string" ? [...Buffer.from(each)] : each;
    const scored = tokens.slice(1);
    const logprobs = {
      tokens: [...tokens.map((token) => String.fromCharCode(token)), "."],
      token_logprobs: [null, ...scored.map(logprobOf), -0.5],
      top_logprobs: [null, ...scored.map((token) => topOf(token)), { ".": -0.5 }],
      text_offset: [...tokens.map((_, at) => at), tokens.length],
    };
    const text = echo ? `${Buffer.from(tokens).toString()}.` : `said ${index}`;
    return { text, index, logprobs: echo ? logprobs : null, finish_reason: "length" };
  });
  const read = prompts.reduce((sum, each) => sum + each.length, 0);
  const usage = { prompt_tokens: read, completion_tokens: prompts.length, total_tokens: read + prompts.length };
  const head = { id: "cmpl-1", object: "text_completion", created: 1_700_000_000, model };
  return wholeAnswer({ ...head, choices: choices.reverse(), usage })(request, response);
};

function topOf(token: number): Record<string, number> {
  const own = { [String.fromCharCode(token)]: logprobOf(token) };
  return token > greedyAbove ? { ...own, " ": -0.001 } : own;
}

const pairs: readonly (readonly [context: string, continuation: string])[] = [
  ["The sky is", " blue"],
  ["The sky is", " a hat"],
  ["Two and two", " are one"],
  ["", "hello"],
  ["Grass is always", " good"],
];

/** What the harness makes of it: the sum, and whether each token was the likeliest. */
function scoreOf(continuation: string): [score: number, isGreedy: boolean] {
  const tokens = [...Buffer.from(continuation)];
  const score = tokens.reduce((sum, token) => sum + logprobOf(token), 0);
  return [Number(score.toFixed(9)), tokens.every((token) => token <= greedyAbove)];
}

describe.skipIf(!hasPython)("lm-evaluation-harness scores", () => {
  it.each<[string, { batch: number; concurrent: number; tokenized?: boolean }, calls: number]>([
    ["one text a call", { batch: 1, concurrent: 1 }, 5],
    ["several a call", { batch: 3, concurrent: 1 }, 2],
    ["several calls at once", { batch: 2, concurrent: 4 }, 3],
    ["texts in place of tokens", { batch: 2, concurrent: 1, tokenized: false }, 2],
  ])("%s, through the gateway", async (_name, options, calls) => {
    const every = await startEvery();
    every.server.reply(scoring);
    const isTokenized = options.tokenized ?? true;
    // Without a context, its first token is none that a text could have.
    const asked = isTokenized ? pairs : pairs.filter(([context]) => context !== "");
    const input = JSON.stringify({ ...options, pairs: asked });
    const { scores } = await runPython<{ scores: [number, boolean][] }>("lm_eval", every.baseURL, input);
    const rounded = scores.map(([score, isGreedy]) => [Number(score.toFixed(9)), isGreedy]);
    expect(rounded).toEqual(asked.map(([, continuation]) => scoreOf(continuation)));
    await every.checkBooks();
    const { requests } = every.server;
    expect(requests).toHaveLength(calls);
    for (const { body, json } of requests) {
      const prompt = JSON.stringify(json.prompt).replaceAll(",", ", ");
      const rest = '"temperature": 0, "max_tokens": 1, "logprobs": 1, "seed": 1234, "echo": true';
      expect(body.toString()).toBe(`{"model": "upstream-small", "prompt": ${prompt}, ${rest}}`);
    }
    const charged = every.events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0);
    const read = asked.reduce((sum, [context, text]) => sum + Math.max(1, context.length) + text.length, 0);
    expect(charged).toBe(read + 10 * asked.length);
  });

  it("texts that it has written on", async () => {
    const every = await startEvery();
    every.server.reply(scoring);
    const input = { batch: 2, concurrent: 1, pairs: [["a", "b"]], texts: ["Once upon", "Twice upon a"] };
    const { texts } = await runPython<{ texts: string[] }>("lm_eval", every.baseURL, JSON.stringify(input));
    // The longest goes first.
    expect(texts).toEqual(["said 1", "said 0"]);
    expect(every.server.lastRequest.json).toMatchObject({
      max_tokens: 8,
      temperature: 0,
      stop: ["\n", "<|endoftext|>"],
    });
    await every.checkBooks();
  });
});
