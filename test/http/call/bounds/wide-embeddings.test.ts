import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { fromGptTokenizer } from "../../../../src/tokens/from-gpt-tokenizer.js";
import { expectNoSockets, withServer } from "../../../e2e/clients/start-server.js";
import { honestEmbeddings } from "../../../support/embedding-samples.js";
import { embeddingModel } from "../../../support/test-gateway.js";
import { noise } from "../../../support/text-samples.js";

afterAll(expectNoSockets);

const model = { ...embeddingModel, contextLength: 2000 };
/** 40,000 characters without a space, which an upstream may take for one input of 24,000 tokens. */
const input = noise(20_000).toString("hex");
const realTokens = 24_000;

async function embed(baseURL: string, texts: string | string[]): Promise<Response> {
  const response = await fetch(`${baseURL}/embeddings`, {
    method: "POST",
    headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
    body: JSON.stringify({ model: model.id, input: texts }),
  });
  await response.text();
  return response;
}

describe("an input that may be longer than the model's context", () => {
  it(
    "is held at all that it can count, so that requests at once overspend by less than one of them",
    withServer(
      async ({ baseURL, upstream, events }) => {
        upstream.reply(honestEmbeddings({ usage: { prompt_tokens: realTokens, total_tokens: realTokens } }));
        const requests = Array.from({ length: 10 }, () => embed(baseURL, input));
        const statuses = (await Promise.all(requests)).map(({ status }) => status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(1);
        await expect.poll(() => events.length).toBe(10);
        expect(events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0)).toBe(realTokens);
      },
      { models: [model], plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 0.02 } } }) },
    ),
  );

  it(
    "is charged at no more than the context, where nobody has counted it",
    withServer(
      async ({ baseURL, upstream, events }) => {
        upstream.reply(honestEmbeddings({ usage: null }));
        await embed(baseURL, [input, "Hi"]);
        await expect.poll(() => events.length).toBe(1);
        expect(events[0]?.tokens.input).toBeGreaterThan(2000);
        expect(events[0]?.tokens.input).toBeLessThan(2010);
        expect(events[0]?.heldMicro).toBeGreaterThanOrEqual(realTokens);
      },
      { models: [model] },
    ),
  );
});

describe("an input that a tokenizer has counted", () => {
  const wide = { ...embeddingModel, contextLength: 100_000 };

  it(
    "is held at what the tokenizer may have missed, too",
    withServer(
      async ({ baseURL, upstream, events, warnings }) => {
        const counted = o200k.countTokens(input);
        upstream.reply(honestEmbeddings({ usage: { prompt_tokens: counted, total_tokens: counted } }));
        await embed(baseURL, input);
        await expect.poll(() => events.length).toBe(1);
        expect(events[0]?.chargedMicro).toBe(counted);
        expect(events[0]?.heldMicro).toBeGreaterThanOrEqual(counted);
        expect(warnings.map(({ code }) => code)).not.toContain("cost_above_hold");
      },
      { models: [{ ...wide, tokenizer: fromGptTokenizer(o200k) }] },
    ),
  );

  it(
    "is held at whole tokens, whatever the host's own tokenizer returns",
    withServer(
      async ({ baseURL, upstream, events }) => {
        upstream.reply(honestEmbeddings({ usage: null }));
        expect((await embed(baseURL, ["Hello", "Hi"])).status).toBe(200);
        await expect.poll(() => events.length).toBe(1);
        expect(events[0]?.heldMicro).toBe(events[0]?.chargedMicro);
      },
      { models: [{ ...wide, tokenizer: { count: (text) => text.length / 4 } }] },
    ),
  );
});
