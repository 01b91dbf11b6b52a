import { afterEach, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../src/gateway/options.js";
import { ReceivedAnswer } from "../../../src/openai/model-answer.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { chatAnswer, errorBody, type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0).reverse()) await close();
});

interface Pair extends TestGateway {
  a: FakeUpstream;
  b: FakeUpstream;
}

async function start(models: readonly Model[]): Promise<Pair> {
  const a = await startFakeUpstream();
  const b = await startFakeUpstream();
  const providers = { a: openAICompatible({ baseURL: a.url }), b: openAICompatible({ baseURL: b.url }) };
  const test = await startTestGateway({ models, providers });
  closers.push(
    () => a.close(),
    () => b.close(),
    () => test.close(),
  );
  return { ...test, a, b };
}

const toA = { provider: "a", model: "upstream-a" };
const toB = { provider: "b", model: "upstream-b" };

async function ask({ gateway }: TestGateway, model: string): Promise<unknown> {
  const response = await gateway.handler(chatRequest({ model }));
  return response.json();
}

/** How many answers were parsed, errors among them. */
function watchParsing(): () => number {
  const { mock } = vi.spyOn(ReceivedAnswer.prototype, "json", "get");
  return () => mock.calls.length;
}

describe("what is known of a target's answers", () => {
  it("is not taken for another model's", async () => {
    const test = await start([
      { ...smallModel, upstream: toA },
      { ...smallModel, id: "acme/large", upstream: toB },
    ]);
    test.a.reply(wholeAnswer(chatAnswer({ model: "upstream-a" })));
    test.b.reply(wholeAnswer(chatAnswer({ model: "upstream-b", extra: { provider: "B" } })));
    await ask(test, "acme/small");
    const parsed = watchParsing();
    expect(await ask(test, "acme/large")).toMatchObject({ model: "acme/large", provider: "B" });
    expect(parsed()).toBeGreaterThan(0);
    const before = parsed();
    for (let round = 0; round < 3; round++) {
      expect(await ask(test, "acme/small")).not.toHaveProperty("provider");
      expect(await ask(test, "acme/large")).toMatchObject({ model: "acme/large", provider: "B" });
    }
    expect(parsed()).toBe(before);
    expect(test.events.map(({ chargedMicro }) => chargedMicro)).toEqual(Array(8).fill(39));
  });

  it("is the one's that has answered, when there are several", async () => {
    const test = await start([{ ...smallModel, upstream: [toA, toB] }]);
    const answerA = wholeAnswer(chatAnswer({ model: "upstream-a" }));
    const failure = wholeAnswer(errorBody("Oops."), { status: 500 });
    test.b.reply(wholeAnswer(chatAnswer({ model: "upstream-b", extra: { provider: "B" } })));
    // Each learns its own first answer. Were there one memory for both, it would be too soon for the second.
    test.a.reply(answerA);
    expect(await ask(test, "acme/small")).not.toHaveProperty("provider");
    test.a.reply(failure);
    expect(await ask(test, "acme/small")).toMatchObject({ model: "acme/small", provider: "B" });
    const parsed = watchParsing();
    expect(await ask(test, "acme/small")).toMatchObject({ model: "acme/small", provider: "B" });
    expect(parsed()).toBe(1);
    test.a.reply(answerA);
    expect(await ask(test, "acme/small")).not.toHaveProperty("provider");
    expect(parsed()).toBe(1);
  });
});
