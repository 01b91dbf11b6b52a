import { afterEach, describe, expect, it } from "vitest";
import { wavHead } from "../../../support/wav-head.js";
import { reporting } from "./reporting.js";
import { allPairs, type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

const names: Readonly<Record<Spoken, readonly [input: string, output: string]>> = {
  "chat/completions": ["prompt_tokens", "completion_tokens"],
  responses: ["input_tokens", "output_tokens"],
  messages: ["input_tokens", "output_tokens"],
};

const both = [false, true] as const;

async function call(stream: boolean, members: Record<string, unknown> = {}): Promise<void> {
  const response = await (pair?.post({ stream, ...members }) ?? expect.fail());
  const text = await response.text();
  expect(response.status, text).toBe(200);
}

describe.each(allPairs)("$client on $target", ({ client, target }) => {
  const [input, output] = names[target];

  it.each(both)("pays for a long prompt by the step that it reaches (stream: %s)", async (stream) => {
    const price = { input: 3, output: 15, steps: [{ above: 200_000, input: 6, output: 22.5 }] };
    pair = await startPair(client, target, { model: { price, contextLength: 1_000_000 } });
    for (const [tokens, micro] of [
      [200_000, 600_000 + 45],
      [200_001, 1_200_006 + 68],
    ] as const) {
      pair.server.reply(reporting(target, { [input]: tokens, [output]: 3 }));
      await call(stream);
      expect(pair.events.at(-1)).toMatchObject({ tokens: { input: tokens, output: 3 }, chargedMicro: micro });
    }
    const { entries } = await pair.gateway.accounts.history("acct_pro");
    for (const { tags } of entries) expect(tags).toMatchObject({ price: "3/3/15/15/0;above.200000=6/6/22.5/22.5/0" });
  });

  it.each(both)("pays for the tier that served it, where it has a price (stream: %s)", async (stream) => {
    const price = { input: 1, output: 10, tiers: { priority: { input: 2, output: 20 } } };
    pair = await startPair(client, target, { model: { price } });
    const usage = { [input]: 9, [output]: 3 };
    for (const [tier, micro] of [
      ["priority", 18 + 60],
      ["default", 9 + 30],
      ["standard", 9 + 30],
      ["flex", 9 + 30],
      ["flex", 9 + 30],
    ] as const) {
      pair.server.reply(reporting(target, { ...usage, service_tier: tier }));
      await call(stream);
      expect(pair.events.at(-1), tier).toMatchObject({ chargedMicro: micro, usageSource: "provider" });
    }
    // At the dearest tier, as nobody knows which one will serve it.
    expect(pair.events[0]?.heldMicro).toBeGreaterThanOrEqual(2 * 9 + 20 * 50);
    expect(pair.warnings).toMatchObject([
      { code: "usage_unpriced", message: expect.stringContaining('"service_tier=flex"') },
    ]);
  });
});

describe.each(["chat/completions", "responses"] as const)("%s", (target) => {
  it.each(both)("says the tier in the response itself (stream: %s)", async (stream) => {
    const price = { input: 1, output: 10, tiers: { priority: { input: 2, output: 20 } } };
    pair = await startPair(target, target, { model: { price } });
    const [input, output] = names[target];
    pair.server.reply(reporting(target, { [input]: 9, [output]: 3 }, { service_tier: "priority" }));
    await call(stream);
    expect(pair.events).toMatchObject([{ chargedMicro: 78, tokens: { serviceTier: "priority" } }]);
    const { entries } = await pair.gateway.accounts.history("acct_pro");
    expect(entries).toMatchObject([
      { tags: { serviceTier: "priority", price: "1/1/10/10/0;tier.priority=2/2/20/20/0" } },
    ]);
  });
});

describe("a chat model that hears and speaks", () => {
  const price = { input: 2.5, output: 10, inputAudio: 40, outputAudio: 80 };
  const samples = Buffer.alloc(2 * 2 * 8000);
  const audio = Buffer.concat([wavHead(8000, samples.length), samples]).toString("base64");
  const heard = {
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is said?" },
          { type: "input_audio", input_audio: { data: audio, format: "wav" } },
        ],
      },
    ],
  };
  const spoken = { modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } };

  it.each(both)("is paid for by what is audio, and held by what may be (stream: %s)", async (stream) => {
    pair = await startPair("chat/completions", "chat/completions", { model: { price, maxOutputTokens: 1000 } });
    pair.server.reply(
      reporting("chat/completions", {
        ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
        prompt_tokens_details: { audio_tokens: 80, text_tokens: 20, cached_tokens: 0 },
        completion_tokens_details: { audio_tokens: 40, text_tokens: 10, reasoning_tokens: 0 },
      }),
    );
    await call(stream, { ...heard, ...spoken });
    // 20 at 2.5, 80 at 40, 10 at 10, 40 at 80.
    expect(pair.events).toMatchObject([
      { chargedMicro: 50 + 3200 + 100 + 3200, tokens: { inputAudio: 80, outputAudio: 40 }, usageSource: "provider" },
    ]);
    expect(pair.events[0]?.heldMicro).toBeGreaterThanOrEqual(1000 * 80);
    const { entries } = await pair.gateway.accounts.history("acct_pro");
    expect(entries).toMatchObject([{ tags: { inputAudio: 80, outputAudio: 40 } }]);
    // Without audio, it costs as any other, and no more is held.
    pair.server.reply(reporting("chat/completions", { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }));
    await call(stream);
    expect(pair.events.at(-1)).toMatchObject({ chargedMicro: 23 + 30, usageSource: "provider" });
    expect(pair.events.at(-1)?.heldMicro).toBeLessThan(1000 * 11);
  });

  it("is paid for an answer that nobody has counted as audio, where audio was asked for", async () => {
    pair = await startPair("chat/completions", "chat/completions", { model: { price } });
    pair.server.reply(reporting("chat/completions", null));
    await call(false, { modalities: ["text", "audio"] });
    const { tokens, chargedMicro } = pair.events[0] ?? expect.fail();
    expect(tokens.outputAudio).toBe(tokens.output);
    expect(chargedMicro).toBe(Math.ceil(tokens.input * 2.5) + tokens.output * 80);
  });

  it("is paid for the audio that its server does not tell from the text", async () => {
    pair = await startPair("chat/completions", "chat/completions", { model: { price } });
    pair.server.reply(reporting("chat/completions", { prompt_tokens: 100, completion_tokens: 3, total_tokens: 103 }));
    await call(false, heard);
    expect(pair.events).toMatchObject([
      { chargedMicro: 100 * 40 + 30, tokens: { inputAudio: 100 }, usageSource: "estimated" },
    ]);
  });
});
