import { describe, expect, it } from "vitest";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { createGate, errorBody, wholeAnswer } from "../../../../src/testing.js";
import { textTokens } from "../../../../src/tokens/text-tokens.js";
import { baseModel, completionServer, textCompletion } from "../../../support/completion-samples.js";
import { smallModel } from "../../../support/test-gateway.js";
import { jsonOf, startCompletions } from "./start-completions.js";

/** With the marks that models put around an input. */
const tokensOf = (text: string) => textTokens(Buffer.from(text)) + 2;

/** What is held while the upstream works, and what it was sent. */
async function heldBy(members: Record<string, unknown>, options?: Parameters<typeof startCompletions>[0]) {
  const { complete, server, held } = await startCompletions(options);
  const gate = createGate();
  server.reply(wholeAnswer(textCompletion(Array(3).fill("x")), { gate }));
  const response = complete({ prompt: "Once", ...members });
  const { json } = await server.nextRequest();
  const whileOpen = await held();
  gate.open();
  const { status } = await response;
  expect(await held()).toBe(0);
  return { status, held: whileOpen, sent: json };
}

const prompt = tokensOf("Once");

describe("a completion request", () => {
  it("goes on byte for byte, but for the name of the model and the cap", async () => {
    const { complete, server } = await startCompletions();
    const body = `{"user":"u1","prompt" : "a","echo":false, "max_tokens":5,"model":"acme/base","seed":12345678901234567890,"logprobs":2}`;
    expect((await complete(body)).status).toBe(200);
    expect(server.lastRequest.url).toBe("/v1/completions");
    expect(server.lastRequest.body.toString()).toBe(body.replace("acme/base", "upstream-small"));
  });

  it.each([
    ["a string", "Once upon"],
    ["an empty string", ""],
    ["strings", ["Once", ""]],
    ["tokens", Array.from({ length: 5000 }, (_, token) => token)],
    ["tokens of several", [[1, 2], [3]]],
  ])("has a prompt of %s", async (_name, prompt) => {
    const { complete, server } = await startCompletions();
    server.reply(wholeAnswer(textCompletion(["a", "b"])));
    expect((await complete({ prompt })).status).toBe(200);
    expect(server.lastRequest.json.prompt).toEqual(prompt);
  });

  it.each([
    [{}, 16],
    [{ max_tokens: 0, echo: true }, 0],
    [{ max_tokens: 100_000 }, 100],
    [{ max_tokens: null }, 100],
  ])("with %j is sent the cap %j", async (members, cap) => {
    const { complete, server } = await startCompletions();
    expect((await complete(members)).status).toBe(200);
    expect(server.lastRequest.json.max_tokens).toBe(cap);
  });

  it("of no limit is sent the plan's default, where it has one", async () => {
    const plans = memoryPlanStore({ pro: { models: ["acme/*"], defaultOutputTokens: 40 } });
    expect(await heldBy({ max_tokens: null }, { plans })).toMatchObject({
      held: prompt + 400,
      sent: { max_tokens: 40 },
    });
    expect(await heldBy({}, { plans })).toMatchObject({ held: prompt + 160, sent: { max_tokens: 16 } });
  });

  it.each([
    ["one prompt", {}, prompt + 16 * 10],
    ["no tokens", { max_tokens: 0 }, prompt + 10],
    ["no limit", { max_tokens: null }, prompt + 100 * 10],
    ["several", { prompt: ["Once", "Once", "Once"], n: 2, max_tokens: 7 }, 3 * prompt + 3 * 2 * 7 * 10],
    ["tokens", { prompt: [[1, 2], [3]], max_tokens: 7 }, 3 + 2 * 7 * 10],
    ["a suffix", { suffix: "Once" }, 2 * prompt + 16 * 10],
    ["no prompt", { prompt: null }, 2 + 16 * 10],
  ])("holds what %s can cost", async (_name, members, held) => {
    expect(await heldBy(members)).toMatchObject({ status: 200, held });
  });

  it("holds `best_of` outputs of each prompt, where that passes", async () => {
    const models = [{ ...baseModel, allowMembers: ["best_of"] }];
    const members = { n: 2, best_of: 5, max_tokens: 3 };
    expect(await heldBy(members, { models })).toMatchObject({ held: prompt + 5 * 3 * 10, sent: { best_of: 5 } });
  });

  it("with a cap in another server's words holds all that the model gives, and gets no other cap", async () => {
    const lenient = (baseURL: string) => ({ fake: openAICompatible({ baseURL, operations: ["completions"] }) });
    const { held, sent } = await heldBy({ n_predict: 30_000 }, (url) => ({ providers: lenient(url) }));
    expect(held).toBe(prompt + 100 * 10);
    expect(sent).toEqual({ model: "upstream-small", prompt: "Once", n_predict: 100 });
  });

  it.each([
    [{ prompt: undefined }, "prompt", "missing_required_parameter"],
    [{ prompt: 5 }, "prompt", "invalid_type"],
    [{ prompt: [] }, "prompt", "empty_array"],
    [{ prompt: [[]] }, "prompt[0]", "empty_array"],
    [{ prompt: ["a", [1]] }, "prompt[1]", "invalid_type"],
    [{ prompt: [{ prompt_string: "a" }] }, "prompt[0]", "invalid_type"],
    [{ prompt: [1, -2] }, "prompt[1]", "invalid_type"],
    [{ prompt: Array(2049).fill("a") }, "prompt", "array_above_max_length"],
    [{ max_tokens: -1 }, "max_tokens", "invalid_value"],
    [{ max_tokens: 1.5 }, "max_tokens", "invalid_type"],
    [{ n: 0 }, "n", "invalid_value"],
    [{ n: 129 }, "n", "invalid_value"],
    [{ best_of: 2 }, "best_of", "unsupported_parameter"],
    [{ best_of: 1e9 }, "best_of", "invalid_value"],
    [{ suffix: ["a"] }, "suffix", "invalid_type"],
    [{ echo: "yes" }, "echo", "invalid_type"],
    [{ stream: 1 }, "stream", "invalid_type"],
    [{ prompt_embeds: "AAAA" }, "prompt_embeds", "unsupported_parameter"],
    [{ messages: [] }, "messages", "unsupported_parameter"],
    [{ n_predict: 5 }, "n_predict", "unsupported_parameter"],
    [{ min_tokens: 5 }, "min_tokens", "unsupported_parameter"],
    [{ Prompt: "b" }, "Prompt", "invalid_value"],
    [{ lora: { id: 1 } }, "lora", "unsupported_parameter"],
    [{ newest: { x: 1 } }, "newest", "unsupported_parameter"],
    [{ prompt: "word ".repeat(130_000) }, "prompt", "context_length_exceeded"],
    [{ prompt: ["a", Array(130_000).fill(7)] }, "prompt[1]", "invalid_type"],
    [{ prompt: [[1], Array(130_000).fill(7)] }, "prompt[1]", "context_length_exceeded"],
  ])("is a 400: %j", async (members, param, code) => {
    const { complete, server } = await startCompletions();
    const response = await complete(members);
    expect({ status: response.status, ...(await jsonOf(response)) }).toMatchObject({
      status: 400,
      error: { param, code },
    });
    expect(server.requests).toHaveLength(0);
  });

  it("takes a model for chat, whose server speaks completions; one for embeddings is told where to go", async () => {
    const { complete, server } = await startCompletions();
    expect((await complete({ model: "acme/small" })).status).toBe(200);
    expect(server.lastRequest.json.model).toBe("upstream-small");
    const refused = await complete({ model: "acme/embed" });
    expect({ status: refused.status, ...(await jsonOf(refused)) }).toMatchObject({
      status: 400,
      error: { param: "model", message: expect.stringContaining("Use POST /v1/embeddings") },
    });
  });

  it("goes past a target that speaks chat alone, and to the next one where that fails, in the same bytes", async () => {
    const targets = ["chat", "fake", "fake"].map((provider, at) => ({ provider, model: `upstream-${at}` }));
    const { complete, server, events } = await startCompletions((url) => ({
      models: [{ ...smallModel, upstream: targets }],
      providers: { chat: openAICompatible({ baseURL: "http://127.0.0.1:9/v1" }), fake: completionServer(url) },
    }));
    server.replyOnce(wholeAnswer(errorBody("Busy."), { status: 503 }));
    const response = await complete({ model: "acme/small", prompt: [[1, 2]], max_tokens: 5 });
    expect(response.status).toBe(200);
    expect(server.requests.map(({ json }) => json)).toEqual(
      ["upstream-1", "upstream-2"].map((model) => ({ model, prompt: [[1, 2]], max_tokens: 5 })),
    );
    expect(events[0]).toMatchObject({
      status: 200,
      attempts: [{ provider: "chat" }, { status: 503 }, { status: 200 }],
      chargedMicro: 39,
    });
  });

  it("is a 400 where no target speaks completions", async () => {
    const { complete } = await startCompletions({
      providers: { fake: openAICompatible({ baseURL: "http://127.0.0.1:9/v1" }) },
    });
    const response = await complete();
    expect({ status: response.status, ...(await jsonOf(response)) }).toMatchObject({ status: 400 });
  });

  it("by an alias gets a response in that name", async () => {
    const { complete } = await startCompletions({ models: [{ ...baseModel, aliases: ["davinci-002"] }] });
    expect(await jsonOf(await complete({ model: "davinci-002" }))).toMatchObject({ model: "davinci-002" });
  });

  it("shows its texts to a hook, which may set what is not the gateway's", async () => {
    const seen: unknown[] = [];
    const { complete, server } = await startCompletions({
      onRequest: (call) => {
        seen.push(...call.texts());
        return { upstream: { set: { temperature: 0.5 } } };
      },
    });
    await complete({ prompt: ["my card is 4111", "b c"], suffix: "the end", user: "u u" });
    expect(seen).toEqual([
      { path: "prompt[0]", role: "user", text: "my card is 4111" },
      { path: "prompt[1]", role: "user", text: "b c" },
      { path: "suffix", role: "user", text: "the end" },
    ]);
    expect(server.lastRequest.json.temperature).toBe(0.5);
    const owner = await startCompletions({ onRequest: () => ({ upstream: { set: { prompt: "other" } } }) });
    expect((await owner.complete()).status).toBe(503);
  });
});
