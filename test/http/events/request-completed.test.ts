import { expect, it } from "vitest";
import type { TargetOptions } from "../../../src/gateway/models/target-options.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { UpstreamError } from "../../../src/providers/upstream-provider.js";
import { chatAnswer, chatChunks, eventStream, ManualClock, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, freeModel, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const target: TargetOptions = { provider: "fake", model: "upstream-small" };

async function call(test: TestGateway, body = {}, key = "sk-pro"): Promise<number> {
  const response = await test.gateway.handler(chatRequest(body, key));
  await response.text();
  return response.status;
}

it.each([false, true])("says when, what was held, and what remains (stream: %s)", async (stream) => {
  const clock = new ManualClock(1_800_000_000_000);
  const test = await startTestGateway({ clock });
  expect(await call(test, { stream, max_tokens: 100 })).toBe(200);
  const [event] = test.events;
  const { windows } = await test.gateway.accounts.balance("acct_pro");
  expect(event).toMatchObject({
    startedAt: 1_800_000_000_000,
    remaining: {
      session: windows.session.remainingMicro,
      week: windows.week.remainingMicro,
      month: windows.month.remainingMicro,
    },
  });
  expect(event?.remaining?.session).toBe(100_000_000 - (event?.chargedMicro ?? 0));
  expect(event?.heldMicro).toBeGreaterThanOrEqual(2000);
  expect(event?.heldMicro).toBeGreaterThan(event?.chargedMicro ?? 0);
  expect(event?.attempts[0]?.startedMs).toBeGreaterThanOrEqual(0);
  expect(event?.attempts[0]).not.toHaveProperty("error");
  await test.close();
});

it("has null for windows without a limit, and no remains where no ledger is used", async () => {
  const test = await startTestGateway();
  await call(test, {}, "sk-basic");
  await call(test, { model: freeModel.id });
  await call(test, { model: "none" });
  const [unlimited, free, refused] = test.events;
  expect(unlimited?.remaining).toEqual({ session: null, week: null, month: null });
  expect([free?.heldMicro, free?.remaining]).toEqual([0, undefined]);
  expect([refused?.heldMicro, refused?.remaining, refused?.attempts]).toEqual([undefined, undefined, []]);
  await test.close();
});

it.each([
  ["the upstream's own usage", { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }, "provider", 3],
  ["an estimate", { usage: null }, "estimated", 2],
])("has the tokens of a free model, by %s, and where they come from", async (_, answer, usageSource, output) => {
  const test = await startTestGateway();
  test.upstream.reply(wholeAnswer(chatAnswer(answer)));
  expect(await call(test, { model: freeModel.id })).toBe(200);
  const [event] = test.events;
  expect(event).toMatchObject({ chargedMicro: 0, usageSource, tokens: { output } });
  expect(event).not.toHaveProperty("funding");
  test.upstream.reply(wholeAnswer({ error: { message: "No." } }, { status: 400 }));
  expect(await call(test, { model: freeModel.id })).toBe(400);
  expect(test.events[1]).toMatchObject({ chargedMicro: 0, tokens: { input: 0, output: 0 } });
  expect(test.events[1]).not.toHaveProperty("usageSource");
  await test.close();
});

it("has the upstream's own id and words of each attempt, and their order in time", async () => {
  const models = [{ ...smallModel, upstream: [target, { ...target, model: "second" }, { ...target, model: "third" }] }];
  const test = await startTestGateway({ models });
  const headers = { "x-request-id": "up-1" };
  test.upstream.replyOnce(wholeAnswer({ error: { message: "The memory\r\nis used up." } }, { status: 500, headers }));
  test.upstream.replyOnce(
    wholeAnswer({ error: { message: "Busy." } }, { status: 503, headers: { "request-id": "up-2" } }),
  );
  test.upstream.reply(eventStream(chatChunks("Hello"), { headers: { "apim-request-id": "up-3" } }));
  expect(await call(test, { stream: true })).toBe(200);
  const attempts = test.events[0]?.attempts ?? [];
  expect(attempts).toMatchObject([
    { upstreamRequestId: "up-1", status: 500, error: "The upstream answered 500. The memory is used up." },
    { upstreamRequestId: "up-2", status: 503, error: "The upstream answered 503. Busy." },
    { upstreamRequestId: "up-3", status: 200, outcome: "completed" },
  ]);
  expect(attempts[2]).not.toHaveProperty("error");
  const starts = attempts.map(({ startedMs }) => startedMs);
  expect(starts).toEqual(starts.toSorted((one, other) => one - other));
  await test.close();
});

it("gives no id of an earlier attempt to a later one", async () => {
  const models = [{ ...smallModel, upstream: [target, { provider: "away", model: "m" }] }];
  const away = {
    call: () => {
      throw new UpstreamError("unreachable", "No such host: gpu.internal");
    },
  };
  const upstreamTest = await startTestGateway();
  const fake = openAICompatible({ baseURL: upstreamTest.upstream.url });
  const test = await startTestGateway({ models, providers: { fake, away } });
  upstreamTest.upstream.reply(wholeAnswer({}, { status: 500, headers: { "x-request-id": "up-1" } }));
  expect(await call(test)).toBe(502);
  const [first, second] = test.events[0]?.attempts ?? [];
  expect(first?.upstreamRequestId).toBe("up-1");
  expect(second).not.toHaveProperty("upstreamRequestId");
  expect(second?.error).toBe("No such host: gpu.internal");
  await test.close();
  await upstreamTest.close();
});

it("keeps keys and long texts out of the errors, and the upstream's words out of the response and warnings", async () => {
  const test = await startTestGateway();
  const message = `Key sk-upstream-secret is over its limit at gpu.internal. ${"word ".repeat(5000)}`;
  test.upstream.reply(wholeAnswer({ error: { message } }, { status: 500 }));
  const response = await test.gateway.handler(chatRequest());
  expect(await response.text()).not.toContain("gpu.internal");
  const error = test.events[0]?.attempts[0]?.error ?? "";
  expect(error).toContain("is over its limit at gpu.internal");
  expect(error).not.toContain("upstream-secret");
  expect(error.length).toBeLessThanOrEqual(1000);
  const { inspect } = await import("node:util");
  expect(inspect(test.warnings, { depth: 10 })).not.toContain("gpu.internal");
  await test.close();
});

it("has the words of an error within a stream", async () => {
  const test = await startTestGateway();
  const chunks = [...chatChunks("Hello").slice(0, 2), { error: { message: "The worker died.", code: 500 } }];
  test.upstream.reply(eventStream(chunks as never));
  await call(test, { stream: true });
  expect(test.events[0]?.attempts[0]).toMatchObject({
    status: 200,
    outcome: "upstream_failed",
    error: "The upstream answered 500. The worker died.",
  });
  await test.close();
});
