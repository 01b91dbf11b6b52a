import { afterEach, describe, expect, it } from "vitest";
import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { type Report, reporting } from "./reporting.js";
import { allPairs, type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

/** What is left out, or cannot be: 9 tokens of input and 3 of output are what was used. */
const nothing: readonly unknown[] = [0, undefined, null, -3, "3", [3], { count: 3 }, 1e12, true];

const names: Readonly<Record<Spoken, readonly [input: string, output: string]>> = {
  "chat/completions": ["prompt_tokens", "completion_tokens"],
  responses: ["input_tokens", "output_tokens"],
  messages: ["input_tokens", "output_tokens"],
};

interface Shown {
  readonly input: unknown;
  readonly output: unknown;
}

/** The last usage that a client got. */
function shownIn(text: string, client: Spoken): Shown {
  const found = [...text.matchAll(/"usage":(\{(?:[^{}]|\{[^{}]*\})*\})/g)].map(([, json]) => JSON.parse(json ?? "{}"));
  const [input, output] = names[client];
  const last = found.findLast((usage) => usage[output] !== undefined) ?? {};
  const caches = ["cache_read_input_tokens", "cache_creation_input_tokens"].map((name) => last[name] ?? 0);
  const ofCaches = client === "messages" ? caches.reduce((sum, count) => sum + count, 0) : 0;
  return { input: last[input] + ofCaches, output: last[output] };
}

async function call(client: Spoken, stream: boolean): Promise<string> {
  const options = client === "chat/completions" && stream ? { stream_options: { include_usage: true } } : {};
  const response = await (pair?.post({ stream, ...options }) ?? expect.fail());
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return text;
}

describe.each(allPairs)("$client on $target", ({ client, target }) => {
  const [inputName, outputName] = names[target];

  it.each([false, true])("is charged an estimate of each half that nobody counts (stream: %s)", async (stream) => {
    pair = await startPair(client, target);
    const reports: [usage: Report, isHalf: readonly [input: boolean, output: boolean]][] = nothing.flatMap((none) => [
      [{ [inputName]: none, [outputName]: 3 }, [false, true]],
      [{ [inputName]: 9, [outputName]: none }, [true, false]],
      [{ [inputName]: none, [outputName]: none }, [false, false]],
    ]);
    pair.server.reply(reporting(target, null));
    await call(client, stream);
    const estimate = pair.events.at(-1)?.tokens ?? expect.fail();
    expect(estimate.input).toBeGreaterThan(9);
    expect(estimate.output).toBeGreaterThan(0);
    for (const [usage, [hasInput, hasOutput]] of reports) {
      pair.server.reply(reporting(target, usage));
      const text = await call(client, stream);
      const tokens = { input: hasInput ? 9 : estimate.input, output: hasOutput ? 3 : estimate.output };
      const event = pair.events.at(-1);
      expect(event, JSON.stringify(usage)).toMatchObject({
        usageSource: "estimated",
        tokens,
        // At 1 and at 10.
        chargedMicro: tokens.input + 10 * tokens.output,
      });
      expect(shownIn(text, client), `${JSON.stringify(usage)}: ${text}`).toEqual(tokens);
    }
  });

  it.each([false, true])("is shown what is charged where the total has more output (stream: %s)", async (stream) => {
    // xAI's, whose completion leaves reasoning out. Messages have no total.
    if (target === "messages") return;
    pair = await startPair(client, target);
    pair.server.reply(reporting(target, { [inputName]: 10, [outputName]: 5, total_tokens: 35 }));
    const text = await call(client, stream);
    expect(pair.events.at(-1)).toMatchObject({ tokens: { input: 10, output: 25 }, chargedMicro: 260 });
    expect(shownIn(text, client), text).toEqual({ input: 10, output: 25 });
  });

  it.each([false, true])("is charged for caches beside the prompt as input (stream: %s)", async (stream) => {
    const model = { price: { input: 3, cachedInput: 0.3, output: 15 } };
    pair = await startPair(client, target, { model });
    pair.server.reply(
      reporting(target, {
        ...{ [inputName]: 368, [outputName]: 19, total_tokens: 10_923 },
        cache_read_input_tokens: 10_536,
      }),
    );
    const text = await call(client, stream);
    expect(pair.events).toMatchObject([
      { usageSource: "provider", tokens: { input: 10_904, cachedInput: 10_536, output: 19 }, chargedMicro: 4550 },
    ]);
    expect(shownIn(text, client), text).toEqual({ input: 10_904, output: 19 });
  });
});

describe("what nobody counts", () => {
  const more = "x = 1\n".repeat(200);
  const custom = { id: "call_1", type: "custom", custom: { name: "code", input: more } };

  it.each<[string, Record<string, unknown>]>([
    ["a call of a custom tool", { content: null, tool_calls: [custom] }],
    ["thoughts in Ollama's word", { content: "", thinking: more }],
    ["an image in OpenRouter's word", { content: "", images: [{ type: "image_url", image_url: { url: more } }] }],
  ])("is estimated: %s", async (_what, message) => {
    pair = await startPair("chat/completions", "chat/completions");
    const choice = { index: 0, finish_reason: "stop" };
    for (const completion_tokens of [undefined, 0]) {
      const usage = { prompt_tokens: 9, completion_tokens };
      pair.server.reply(wholeAnswer({ ...chatAnswer(), choices: [{ ...choice, message }], usage }));
      await call("chat/completions", false);
      const whole = pair.events.at(-1);
      expect(whole).toMatchObject({ usageSource: "estimated", tokens: { input: 9 } });
      expect(whole?.tokens.output).toBeGreaterThan(200);
      const [first] = chatChunks("", {});
      pair.server.reply(
        eventStream([
          { ...first, choices: [{ ...choice, delta: message }] },
          { choices: [], usage },
        ]),
      );
      await call("chat/completions", true);
      expect(pair.events.at(-1)).toMatchObject({ usageSource: "estimated", tokens: whole?.tokens });
    }
  });
});
