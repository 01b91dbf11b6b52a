import { Writable } from "node:stream";
import { logs } from "infergate/logs";
import { pino } from "pino";
import { afterEach, expect, it } from "vitest";
import { errorBody, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(() => test?.close());

function startLog() {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  return { lines, logger: pino({ base: null, timestamp: false }, stream) };
}

it("writes one line for each request with pino, and none of what it must not", async () => {
  const { lines, logger } = startLog();
  test = await startTestGateway({ observers: [logs(logger)] });
  await (await test.gateway.handler(chatRequest({ messages: [{ role: "user", content: "MARKER" }] }))).text();
  const [event] = test.events;
  expect(lines).toEqual([
    {
      level: 30,
      msg: "request completed",
      requestId: event?.requestId,
      endpoint: "chat/completions",
      account: "acct_pro",
      keyId: "key_pro",
      plan: "pro",
      model: "acme/small",
      status: 200,
      stream: false,
      endReason: "completed",
      provider: "fake",
      upstreamModel: "upstream-small",
      attempts: 1,
      inputTokens: event?.tokens.input,
      cachedInputTokens: 0,
      outputTokens: event?.tokens.output,
      reasoningTokens: 0,
      chargedMicro: event?.chargedMicro,
      usageSource: "provider",
      totalMs: expect.any(Number),
      firstByteMs: expect.any(Number),
      upstreamMs: expect.any(Number),
    },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/MARKER|sk-/);
});

it("logs failures as errors, and warnings in one line each", async () => {
  const { lines, logger } = startLog();
  test = await startTestGateway({ observers: [logs(logger)] });
  test.upstream.reply(wholeAnswer(errorBody('down\n{"level":30,"msg":"forged"}'), { status: 500 }));
  await test.gateway.handler(chatRequest());
  expect(lines.map(({ level }) => level)).toEqual([40, 50]);
  expect(lines[0]?.["msg"]).not.toMatch(/\n/);
  expect(lines[1]).toMatchObject({ status: 502, errorCode: test.events[0]?.errorCode });
});

it("writes what it is told to", async () => {
  const { lines, logger } = startLog();
  test = await startTestGateway({
    observers: [logs(logger, { level: ({ status }) => (status === 404 ? "warn" : undefined) })],
  });
  await test.gateway.handler(chatRequest());
  await test.gateway.handler(chatRequest({ model: "none" }));
  expect(lines.map(({ level, status }) => [level, status])).toEqual([[40, 404]]);
});
