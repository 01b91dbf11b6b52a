import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import type { IncomingCall } from "../../../../src/hooks/admission.js";
import { memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { resetBeforeHeaders, wholeAnswer } from "../../../../src/testing.js";
import {
  type ClientServer,
  expectNoSockets,
  type ServerOptions,
  withServer,
} from "../../../e2e/clients/start-server.js";
import { embeddingModel, largeModel, smallModel, startTestGateway } from "../../../support/test-gateway.js";

afterAll(expectNoSockets);

/** What Claude Code and Codex call by default: a name, a dated one for what runs beside, and the other maker's. */
const aliases = ["claude-sonnet-4-5", "claude-haiku-4-5-20251001", "gpt-5-codex"];
const smart = { ...smallModel, aliases };
const models = [smart, largeModel, { ...embeddingModel, aliases: ["text-embedding-3-small"] }];
const breaking = { ...smallModel, breaker: { consecutiveFailures: 1, openMs: 60_000 } };
const hello = [{ role: "user" as const, content: "Hello!" }];

const openai = ({ baseURL }: ClientServer, apiKey = "sk-pro") => new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const anthropic = ({ baseURL }: ClientServer, apiKey = "sk-pro") =>
  new Anthropic({ baseURL: new URL(baseURL).origin, apiKey, maxRetries: 0 });

const withAliases = (run: (server: ClientServer) => Promise<void>, options: ServerOptions = {}) =>
  withServer(run, { models, ...options });

async function failureOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => new Error("It should have failed."),
    (thrown: unknown) => thrown,
  );
}

/** Each operation, as its SDK calls it. @returns the model that the response names. */
const operations: Record<string, (server: ClientServer, model: string) => Promise<unknown>> = {
  "chat completions": async (server, model) =>
    (await openai(server).chat.completions.create({ model, messages: hello })).model,
  "streamed chat completions": async (server, model) => {
    const names = new Set<string>();
    const stream = await openai(server).chat.completions.create({ model, messages: hello, stream: true });
    for await (const chunk of stream) names.add(chunk.model);
    return [...names].join();
  },
  responses: async (server, model) => (await openai(server).responses.create({ model, input: "Hello!" })).model,
  "streamed responses": async (server, model) => {
    const names = new Set<string>();
    const stream = await openai(server).responses.create({ model, input: "Hello!", stream: true });
    for await (const event of stream) if ("response" in event) names.add(event.response.model);
    return [...names].join();
  },
  messages: async (server, model) =>
    (await anthropic(server).messages.create({ model, messages: hello, max_tokens: 50 })).model,
  "streamed messages": async (server, model) =>
    (await anthropic(server).messages.stream({ model, messages: hello, max_tokens: 50 }).finalMessage()).model,
};

describe("a model that is called by an alias", () => {
  it.each(Object.keys(operations))("answers by that name, and is charged under its id: %s", (name) =>
    withAliases(async (server) => {
      for (const alias of aliases) expect(await operations[name]?.(server, alias)).toBe(alias);
      expect(await operations[name]?.(server, "acme/small")).toBe("acme/small");
      const { events, gateway, upstream } = server;
      expect(events.map(({ model }) => model)).toEqual(Array(4).fill("acme/small"));
      expect(events.map((event) => event.requestedModel)).toEqual([...aliases, undefined]);
      expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39, 39, 39]);
      expect("requestedModel" in (events[3] ?? {})).toBe(false);
      expect(new Set(upstream.requests.map(({ json }) => json.model))).toEqual(new Set(["upstream-small"]));
      const { entries } = await gateway.accounts.history("acct_pro");
      expect(entries.map(({ tags }) => tags["model"])).toEqual(Array(4).fill("acme/small"));
    })(),
  );

  it(
    "makes embeddings, and counts tokens",
    withAliases(async (server) => {
      const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
      server.upstream.reply(wholeAnswer({ object: "list", data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
      const { model } = await openai(server).embeddings.create({ model: "text-embedding-3-small", input: "Hello" });
      expect(model).toBe("text-embedding-3-small");
      expect(server.events[0]).toMatchObject({ model: "acme/embed", requestedModel: "text-embedding-3-small" });
      const counted = await anthropic(server).messages.countTokens({ model: "gpt-5-codex", messages: hello });
      expect(counted.input_tokens).toBeGreaterThan(0);
      expect(server.events[1]).toMatchObject({ endpoint: "count_tokens", model: "acme/small" });
      const { input_tokens: tokens } = await openai(server).responses.inputTokens.count({
        model: "claude-sonnet-4-5",
        input: "Hello!",
      });
      expect(tokens).toBeGreaterThan(0);
    }),
  );

  it(
    "is listed and found under each name, with what it stands for",
    withAliases(async (server) => {
      const listed = (await openai(server).models.list()).data;
      const ids = ["acme/small", ...aliases, "acme/large", "acme/embed", "text-embedding-3-small"];
      expect(listed.map(({ id }) => id)).toEqual(ids);
      const standsFor = listed.map((each) => (each as { alias_of?: string }).alias_of);
      expect(standsFor).toEqual([undefined, ...Array(3).fill("acme/small"), undefined, undefined, "acme/embed"]);
      expect(listed[1]).toMatchObject({ object: "model", owned_by: "acme", context_length: 128_000 });
      const found = await openai(server).models.retrieve("claude-haiku-4-5-20251001");
      expect(found).toMatchObject({ id: "claude-haiku-4-5-20251001", alias_of: "acme/small" });
      const ofAnthropic = (await anthropic(server).models.list()).data;
      expect(ofAnthropic.map(({ id }) => id)).toEqual(ids);
      expect(ofAnthropic[1]).toMatchObject({ id: "claude-sonnet-4-5", display_name: "acme/small" });
      const one = await anthropic(server).models.retrieve("gpt-5-codex");
      expect(one).toMatchObject({ type: "model", id: "gpt-5-codex", display_name: "acme/small" });
    }),
  );

  it("is allowed exactly if its model is", async () => {
    await withAliases(
      async (server) => {
        const refused = await failureOf(
          openai(server, "sk-large").chat.completions.create({ model: "gpt-5-codex", messages: hello }),
        );
        expect(refused).toMatchObject({ status: 403, code: "model_not_allowed" });
        expect((refused as Error).message).toContain("'gpt-5-codex'");
        expect((await openai(server, "sk-large").models.list()).data.map(({ id }) => id)).toEqual(["acme/large"]);
        // A plan and a key that name aliases name nothing.
        for (const key of ["sk-aliases", "sk-alias"]) {
          expect((await openai(server, key).models.list()).data).toEqual([]);
          expect(await failureOf(openai(server, key).models.retrieve("gpt-5-codex"))).toMatchObject({ status: 403 });
        }
        expect(server.warnings.map(({ message }) => message)).toEqual([
          'The plan "aliases" names the model "claude-*", which matches no id in the catalog, but the alias "claude-sonnet-4-5" of "acme/small". Plans name ids: name that.',
        ]);
      },
      {
        keys: memoryKeyStore([
          { key: "sk-large", id: "key_1", account: "acct_1", plan: "large" },
          { key: "sk-aliases", id: "key_2", account: "acct_2", plan: "aliases" },
          { key: "sk-alias", id: "key_3", account: "acct_3", plan: "all", models: ["gpt-5-codex"] },
        ]),
        plans: memoryPlanStore({
          large: { models: ["acme/large"] },
          aliases: { models: ["claude-*"] },
          all: { models: ["*"] },
        }),
      },
    )();
  });

  it("tells the hook both names, and the client the one that it knows", async () => {
    const seen: Pick<IncomingCall, "model" | "requestedModel">[] = [];
    await withAliases(
      async (server) => {
        const model = "claude-sonnet-4-5";
        await openai(server).chat.completions.create({ model, messages: hello });
        await openai(server).chat.completions.create({ model: "acme/small", messages: hello });
        expect(seen).toMatchObject([{ model: "acme/small", requestedModel: model }, { model: "acme/small" }]);
        expect(seen[1]).not.toHaveProperty("requestedModel");
        const refused = await failureOf(openai(server).embeddings.create({ model, input: "Hello" }));
        expect((refused as Error).message).toContain(`'${model}' is a chat model`);
        const asked = { model, messages: hello, reasoning_effort: "high" } as const;
        const missing = await failureOf(openai(server).chat.completions.create(asked));
        expect((missing as Error).message).toContain(model);
        expect((missing as Error).message).not.toContain("acme/small");
      },
      {
        models: [{ ...smart, unsupported: "refuse" }],
        onRequest: (call) => {
          seen.push(call);
        },
      },
    )();
  });

  it("shares the rates of its model", async () => {
    await withAliases(
      async (server) => {
        const [model = ""] = aliases;
        await openai(server).chat.completions.create({ model, messages: hello });
        const refused = await failureOf(
          openai(server).chat.completions.create({ model: "acme/small", messages: hello }),
        );
        expect(refused).toMatchObject({ status: 429 });
      },
      {
        plans: memoryPlanStore({
          pro: { models: ["*"], rates: { models: { "acme/small": { requestsPerMinute: 1 } } } },
        }),
      },
    )();
  });
});

describe("aliases of a catalog", () => {
  it.each([
    [[{ ...smart, aliases: ["acme/small"] }], 'has the alias "acme/small", which is the id of a model'],
    [[smart, { ...largeModel, id: "gpt-5-codex" }], 'has the alias "gpt-5-codex", which is the id of a model'],
    [
      [smart, { ...largeModel, aliases: ["gpt-5-codex"] }],
      '"acme/large" has the alias "gpt-5-codex", which is an alias of the model "acme/small" already. Ids and aliases must be unique',
    ],
    [[{ ...smart, aliases: ["a", "a"] }], 'the alias "a", which is an alias of the model "acme/small" already'],
    [[{ ...smart, aliases: ["a b"] }], "models[0].aliases[0]: must hold no white space"],
    [[{ ...smart, extra: { alias_of: "x" } }], "must not set what the gateway sets"],
  ])("are refused if they are not unique, or no names: %#", async (wrong, message) => {
    await expect(startTestGateway({ models: wrong })).rejects.toThrow(message);
  });

  it(
    "change at run time, and are shown once among the health of models",
    withAliases(async ({ gateway, ...server }) => {
      const client = openai({ gateway, ...server });
      expect(Object.keys(gateway.health().models)).toEqual(["acme/small", "acme/large", "acme/embed"]);
      gateway.update({ models: [{ ...smallModel, aliases: ["acme/other"] }] });
      expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["acme/small", "acme/other"]);
      expect(await failureOf(client.models.retrieve("gpt-5-codex"))).toMatchObject({ status: 404 });
      // What was an alias may become a model, with targets of its own.
      gateway.update({ models: [{ ...largeModel, id: "acme/other" }, smallModel] });
      expect((await client.chat.completions.create({ model: "acme/other", messages: hello })).model).toBe("acme/other");
      expect(server.events.at(-1)).toMatchObject({ model: "acme/other", attempts: [{ model: "upstream-large" }] });
    }),
  );

  it(
    "hand no circuit breaker on to a model that takes the name",
    withServer(
      async (server) => {
        server.upstream.reply(resetBeforeHeaders());
        const call = openai(server).chat.completions.create({ model: "acme/other", messages: hello });
        expect(await failureOf(call)).toMatchObject({ status: 502 });
        expect(server.gateway.health().models["acme/small"]?.available).toBe(false);
        server.gateway.update({ models: [breaking, { ...breaking, id: "acme/other" }] });
        const { models: health } = server.gateway.health();
        expect(Object.values(health).map(({ available }) => available)).toEqual([false, true]);
      },
      { models: [{ ...breaking, aliases: ["acme/other"] }] },
    ),
  );
});
