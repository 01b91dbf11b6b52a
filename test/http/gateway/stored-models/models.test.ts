import { afterEach, describe, expect, it } from "vitest";
import { memoryModelStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { createGate, wholeAnswer } from "../../../../src/testing.js";
import type { Tokenizer } from "../../../../src/tokens/tokenizer.js";
import { chatRequest, getRequest, largeModel, smallModel } from "../../../support/test-gateway.js";
import { call, closeStarted, listed, named, start, startPair } from "./fixture.js";

afterEach(closeStarted);

const ofOptions = ["acme/small", "acme/large", "acme/free", "acme/embed"];

describe("models in a store", () => {
  it("replace those of the options in their places, stand after them, and fall back", async () => {
    const { one, other } = await startPair();
    const { models } = one.gateway;
    await models.put(named("acme/z"));
    await models.put(named("acme/new"));
    await models.put({ ...largeModel, price: { input: 3, output: 4 } });
    for (const test of [one, other]) {
      expect(await listed(test)).toEqual([...ofOptions, "acme/new", "acme/z"]);
      expect(await listed(test, { "anthropic-version": "2023-06-01" })).toEqual([...ofOptions, "acme/new", "acme/z"]);
      expect(await call(test, "acme/new")).toBe(200);
      expect(Object.keys(test.gateway.health().models)).toEqual([...ofOptions, "acme/new", "acme/z"]);
      expect(await test.gateway.models.get("acme/large")).toMatchObject({
        source: "store",
        model: { price: { input: 3, output: 4 } },
      });
    }
    expect(await models.remove("acme/large")).toBe(true);
    expect(await models.remove("acme/new")).toBe(true);
    expect(await models.remove("acme/new")).toBe(false);
    for (const test of [other, one]) {
      expect(await listed(test)).toEqual([...ofOptions, "acme/z"]);
      expect(await call(test, "acme/new")).toBe(404);
      expect(await test.gateway.models.get("acme/large")).toMatchObject({ source: "options" });
      expect(await test.gateway.models.get("acme/new")).toBeUndefined();
    }
    expect([one.warnings, other.warnings]).toEqual([[], []]);
  });

  it("take models of the options out of service, and keep what a disabled one was", async () => {
    const { one, other } = await startPair({ plans: memoryPlanStore({ pro: { models: ["acme/*"] } }) });
    await one.gateway.models.put({ id: "acme/small", disabled: true });
    await one.gateway.models.put({ ...largeModel, disabled: true });
    for (const test of [one, other]) {
      expect(await listed(test)).toEqual(["acme/free", "acme/embed"]);
      expect(await call(test, "acme/small")).toBe(404);
      const record = await test.gateway.handler(getRequest("/v1/models/acme/large"));
      expect(record.status).toBe(404);
    }
    const { entry, version, ...rest } = (await other.gateway.models.get("acme/large")) ?? {};
    expect(rest).toEqual({ id: "acme/large" });
    await other.gateway.models.put(
      { ...(entry as unknown as typeof largeModel), disabled: false },
      { expected: version },
    );
    expect(await listed(one)).toEqual(["acme/large", "acme/free", "acme/embed"]);
    await other.gateway.models.remove("acme/small");
    expect(await listed(one)).toEqual(ofOptions);
  });

  it("heed the version that is expected", async () => {
    const { one, other } = await startPair();
    const made = await one.gateway.models.put(named("acme/new"), { expected: null });
    const conflict = { name: "ModelConflictError", status: 409 };
    await expect(other.gateway.models.put(named("acme/new"), { expected: null })).rejects.toMatchObject(conflict);
    const changed = await other.gateway.models.put(named("acme/new", { publisher: "x" }), { expected: made.version });
    await expect(one.gateway.models.remove("acme/new", { expected: made.version })).rejects.toMatchObject(conflict);
    expect((await one.gateway.models.get("acme/new"))?.version).toBe(changed.version);
    expect(await one.gateway.models.remove("acme/new", { expected: changed.version })).toBe(true);
  });

  it("give what is in force as data, which can be put again", async () => {
    const { one } = await startPair({ models: [{ ...smallModel, tokenizer: counting() }, largeModel] });
    const all = await one.gateway.models.list();
    expect(all.map(({ id, source, version }) => [id, source, version])).toEqual([
      ["acme/small", "options", undefined],
      ["acme/large", "options", undefined],
    ]);
    for (const { model } of all) if (model !== undefined) await one.gateway.models.put(model, { expected: null });
    expect((await one.gateway.models.list()).map(({ source }) => source)).toEqual(["store", "store"]);
  });

  it("count with the tokenizer of the model of the options", async () => {
    const tokenizer = counting();
    const { one } = await startPair({ models: [{ ...smallModel, tokenizer }] });
    await one.gateway.models.put({ ...smallModel, price: { input: 5, output: 5 } });
    expect(await call(one, "acme/small")).toBe(200);
    expect(tokenizer.calls()).toBeGreaterThan(0);
    await expect(one.gateway.models.put({ ...smallModel, tokenizer } as typeof smallModel)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/tokenizer: is code, which no store keeps\. Give it to the model of this id/),
    });
  });

  it("leave a call in progress its price and its targets", async () => {
    const { one } = await startPair();
    const gate = createGate();
    one.upstream.replyOnce(wholeAnswer(answer, { gate }));
    const first = one.gateway.handler(chatRequest({}));
    await one.upstream.nextRequest();
    await one.gateway.models.put({ ...smallModel, price: { input: 1000, output: 10_000 } });
    expect(one.gateway.health().models["acme/small"]?.targets[0]).toMatchObject({ active: 1 });
    const ended = one.nextEvent();
    gate.open();
    await (await first).text();
    const { chargedMicro } = await ended;
    one.upstream.replyOnce(wholeAnswer(answer));
    const next = one.nextEvent();
    await call(one, "acme/small");
    expect((await next).chargedMicro).toBe(1000 * chargedMicro);
  });

  it("leave other models as they were, their breakers and their counts, too", async () => {
    const targets = [
      { provider: "fake", model: "a" },
      { provider: "fake", model: "b" },
    ];
    const { one } = await startPair({ models: [{ ...smallModel, upstream: targets }, largeModel] });
    for (let turn = 0; turn < 5; turn++) {
      one.upstream.replyOnce(wholeAnswer("{}", { status: 500 }));
      await call(one, "acme/small");
    }
    const before = one.gateway.health().models["acme/small"];
    expect(before?.targets[0]?.state).not.toBe("closed");
    await one.gateway.models.put(named("acme/new"));
    await one.gateway.models.put({ ...smallModel, upstream: targets, price: { input: 9, output: 9 } });
    expect(one.gateway.health().models["acme/small"]?.targets).toEqual(before?.targets);
  });

  it("wait for nobody but a first reading", async () => {
    const store = memoryModelStore([named("acme/new")]);
    const test = await start(store);
    expect(test.gateway.health().models["acme/new"]).toBeUndefined();
    const statuses = await Promise.all(Array.from({ length: 20 }, () => call(test, "acme/new")));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(test.warnings).toEqual([]);
  });
});

describe("models of the options", () => {
  it("change beside those of the store", async () => {
    const { one, store } = await startPair();
    await one.gateway.models.put({ ...smallModel, price: { input: 7, output: 7 } });
    one.gateway.update({ models: [named("acme/next"), smallModel] });
    expect(await listed(one)).toEqual(["acme/next", "acme/small"]);
    expect((await one.gateway.models.get("acme/small"))?.model?.price).toEqual({ input: 7, output: 7 });
    one.gateway.update({ models: [largeModel] });
    expect(await listed(one)).toEqual(["acme/large", "acme/small"]);
    await store.remove("acme/small");
    await one.gateway.models.list();
    expect(await listed(one)).toEqual(["acme/large"]);
  });

  it("keep the providers that models of the store name", async () => {
    const { one } = await startPair();
    await one.gateway.models.put(named("acme/new"));
    expect(() => one.gateway.update({ models: [], providers: {} })).toThrow(
      /gateway\.update: the options do not fit to the models of the store: The model "acme\/new" names the provider "fake"/,
    );
    expect(await call(one, "acme/new")).toBe(200);
  });
});

function counting(): Tokenizer & { calls(): number } {
  let calls = 0;
  return {
    count: (text: string) => {
      calls++;
      return text.length;
    },
    calls: () => calls,
  } as Tokenizer & { calls(): number };
}

const answer = JSON.stringify({
  id: "x",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
