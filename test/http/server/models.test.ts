import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ModelType } from "../../../src/protocols/shared/model-type.js";
import { modelRecord } from "../../../src/server/model-record.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatRequest, getRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
beforeEach(async () => {
  test = await startTestGateway();
});
afterEach(() => test.close());

async function listed(key: string, query = ""): Promise<string[]> {
  const response = await test.gateway.handler(getRequest(`/v1/models${query}`, key));
  const { object, data } = (await response.json()) as { object: string; data: { id: string }[] };
  expect(object).toBe("list");
  return data.map(({ id }) => id);
}

describe("GET /v1/models", () => {
  it("lists what the key's plan allows, and no more than the key itself allows", async () => {
    expect(await listed("sk-pro")).toEqual(["acme/small", "acme/large", "acme/free", "acme/embed"]);
    expect(await listed("sk-basic")).toEqual(["acme/small"]);
    expect(await listed("sk-narrow")).toEqual(["acme/small"]);
  });

  it("lists the models of one type, where it is asked for", async () => {
    expect(await listed("sk-pro", "?type=embedding")).toEqual(["acme/embed"]);
    expect(await listed("sk-pro", "?type=image&limit=5")).toEqual([]);
    const response = await test.gateway.handler(getRequest("/v1/models?type=chatty"));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "type", code: "invalid_value" } });
  });

  it("shows exactly what a call would allow", async () => {
    for (const key of ["sk-pro", "sk-basic", "sk-narrow"]) {
      const ids = await listed(key);
      for (const model of ["acme/small", "acme/large", "acme/free"]) {
        const response = await test.gateway.handler(chatRequest({ model }, key));
        expect(response.status).toBe(ids.includes(model) ? 200 : 403);
      }
    }
  });

  it("touches no ledger and tells no stock", async () => {
    const response = await test.gateway.handler(getRequest("/v1/models"));
    expect([...response.headers.keys()].filter((name) => name.includes("ratelimit"))).toEqual([]);
    expect(test.events).toMatchObject([{ endpoint: "models", status: 200, chargedMicro: 0 }]);
  });
});

describe("GET /v1/models/{id}", () => {
  it("has OpenAI's members, ours, and those of the catalog's own", async () => {
    const described = await startTestGateway({
      models: [{ ...smallModel, extra: { description: "Small.", owned_by: "someone" } }],
    });
    const response = await described.gateway.handler(getRequest("/v1/models/acme/small"));
    expect(await response.json()).toEqual({
      id: "acme/small",
      object: "model",
      created: 1_767_225_600,
      owned_by: "someone",
      type: "chat",
      publisher: "acme",
      context_length: 128_000,
      max_output_tokens: 1000,
      capabilities: { tools: true },
      name: "acme/small",
      architecture: { input_modalities: ["text"], output_modalities: ["text"] },
      max_model_len: 128_000,
      description: "Small.",
    });
    await described.close();
  });

  it.each<[ModelType, string[], string[]]>([
    ["chat", ["text", "image"], ["text"]],
    ["completion", ["text", "image"], ["text"]],
    ["embedding", ["text", "image"], ["embeddings"]],
    ["rerank", ["text", "image"], ["rerank"]],
    ["image", ["text", "image"], ["image"]],
    ["speech", ["text", "image"], ["speech"]],
    ["transcription", ["audio", "image"], ["transcription"]],
  ])("says what a model for %s reads and makes", async (type, input_modalities, output_modalities) => {
    const of = (vision: boolean) =>
      JSON.parse(modelRecord({ id: "acme/x", type, capabilities: { vision } })).architecture;
    expect(of(true)).toEqual({ input_modalities, output_modalities });
    expect(of(false)).toEqual({ input_modalities: input_modalities.slice(0, 1), output_modalities });
  });

  it("has a name that is never null, and says nothing of which it does not know", () => {
    const record = (extra: object) =>
      JSON.parse(modelRecord({ id: "acme/x", type: "moderation", extra: { ...extra } }));
    expect(record({}).name).toBe("acme/x");
    expect(record({ display_name: "Small" }).name).toBe("Small");
    expect(record({ display_name: "Small", name: "Smaller" }).name).toBe("Smaller");
    expect(record({ display_name: null }).name).toBe("acme/x");
    expect(Object.keys(record({}))).not.toEqual(expect.arrayContaining(["architecture"]));
    expect(Object.keys(record({}))).not.toEqual(expect.arrayContaining(["max_model_len"]));
  });

  it("leaves out what the catalog does not say", async () => {
    const response = await test.gateway.handler(getRequest("/v1/models/acme%2Fembed"));
    const record = (await response.json()) as Record<string, unknown>;
    expect(record).toMatchObject({ type: "embedding", owned_by: "infergate", capabilities: {} });
    expect(record).not.toHaveProperty("publisher");
    expect(record).not.toHaveProperty("max_output_tokens");
  });

  it.each([
    ["/v1/models/acme/small", 200],
    ["/v1/models/acme%2Fsmall", 200],
    ["/v1/models/acme%2fsmall/", 200],
    ["/v1/models/acme/small?beta=true", 200],
    ["/v1/models/acme%252Fsmall", 404],
    ["/v1/models/%zz", 404],
    ["/v1/models/acme", 404],
    ["/v1/models/", 200],
  ])("answers %s with %i", async (path, status) => {
    expect((await test.gateway.handler(getRequest(path))).status).toBe(status);
  });

  it("refuses what is outside the plan, as on use", async () => {
    const response = await test.gateway.handler(getRequest("/v1/models/acme/large", "sk-basic"));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: "model_not_allowed" } });
  });
});

describe("plan patterns", () => {
  it.each([
    [["*"], ["a/x", "a/x:free", "b/x.1", "b/y"]],
    [["a/*"], ["a/x", "a/x:free"]],
    [["*/x"], ["a/x"]],
    [["b/x.1"], ["b/x.1"]],
    [["b/x?1", "b/.*"], []],
    [["*x*"], ["a/x", "a/x:free", "b/x.1"]],
    [
      ["a/x", "b/y", "none"],
      ["a/x", "b/y"],
    ],
    [[], []],
  ])("of %j match %j", async (patterns, ids) => {
    const matching = await startTestGateway({
      models: ["a/x", "a/x:free", "b/x.1", "b/y"].map((id) => ({ ...smallModel, id })),
      keys: memoryKeyStore([{ key: "sk-1", account: "a", plan: "p" }]),
      plans: memoryPlanStore({ p: { models: patterns } }),
    });
    const response = await matching.gateway.handler(getRequest("/v1/models", "sk-1"));
    expect(((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(ids);
    await matching.close();
  });
});

describe("GET /healthz", () => {
  it("needs no key and makes no event", async () => {
    const response = await test.gateway.handler(getRequest("/healthz", null));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"status":"ok"}');
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(test.events).toEqual([]);
  });

  it("has no body for HEAD", async () => {
    const response = await test.gateway.handler(getRequest("/healthz", null, "HEAD"));
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});
