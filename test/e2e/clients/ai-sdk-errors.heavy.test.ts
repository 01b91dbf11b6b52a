import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, RetryError, streamText } from "ai";
import { afterAll, describe, expect, it } from "vitest";
import { wholeAnswer } from "../../../src/testing.js";
import { brokenStreams, type Failure, failures } from "./failures.js";
import { oneCredit } from "./samples.js";
import { shortenWaits } from "./short-waits.js";
import { type ClientServer, expectNoSockets, withServer } from "./start-server.js";

shortenWaits();
afterAll(expectNoSockets);

function settingsOf({ baseURL }: ClientServer, failure: Partial<Failure> = {}) {
  const { key = "sk-pro", model = "acme/small", prompt = "Hello!", headers = {}, parameters = {} } = failure;
  return {
    model: createOpenAICompatible({ name: "infergate", baseURL, apiKey: key, includeUsage: true })(model),
    prompt,
    headers,
    providerOptions: { infergate: parameters },
  };
}

/** The error by which a request fails, out of the one that tells of all attempts. */
function callError(thrown: unknown): APICallError {
  const error = RetryError.isInstance(thrown) ? thrown.lastError : thrown;
  if (APICallError.isInstance(error)) return error;
  throw new Error(`Not an APICallError: ${error}`, { cause: error });
}

async function wholeError(settings: Parameters<typeof generateText>[0]): Promise<APICallError> {
  return callError(
    await generateText(settings).then(
      () => undefined,
      (thrown: unknown) => thrown,
    ),
  );
}

async function streamError(settings: Parameters<typeof streamText>[0]): Promise<APICallError> {
  const errors: unknown[] = [];
  const result = streamText({ ...settings, onError: () => {} });
  for await (const part of result.fullStream) if (part.type === "error") errors.push(part.error);
  expect(errors).toHaveLength(1);
  return callError(errors[0]);
}

describe.concurrent.each([
  ["whole", wholeError],
  ["streamed", streamError],
])("the AI SDK, %s, fails by", (_kind, errorOf) => {
  it.each(failures)("$name", (failure) =>
    withServer(async (server) => {
      await failure.prepare?.(server);
      const error = await errorOf(settingsOf(server, failure));
      const { status, code, type, param } = failure;
      expect([error.statusCode, error.message]).toEqual([status, expect.stringMatching(failure.message)]);
      expect(JSON.parse(error.responseBody ?? "")).toEqual({ error: { message: error.message, type, param, code } });
      expect(error.responseHeaders?.["retry-after"]).toEqual(failure.retryAfter);
      expect(error.responseHeaders?.["x-should-retry"]).toBe(failure.shouldRetry);
      expect(server.attempts()).toBe(failure.attempts.aiSdk);
      expect(server.events.map(({ requestId }) => requestId)).toContain(error.responseHeaders?.["x-request-id"]);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual(Array(server.attempts()).fill(0));
    }, failure.options)(),
  );
});

describe.concurrent("the AI SDK, in the middle of a stream that breaks off", () => {
  it.each(brokenStreams)(
    "$name, gets an error part, and does not try again",
    ({ code, type, text: seen = "Hello", ...broken }) =>
      withServer(async (server) => {
        broken.prepare(server);
        const result = streamText({ ...settingsOf(server), onError: () => {} });
        const errors: unknown[] = [];
        let text = "";
        for await (const part of result.fullStream) {
          if (part.type === "error") errors.push(part.error);
          if (part.type !== "text-delta") continue;
          text += part.text;
          broken.begun?.(server);
        }
        expect(errors).toMatchObject([{ code, type, param: null, message: expect.any(String) }]);
        expect([text, await result.finishReason]).toEqual([seen, "error"]);
        expect(server.attempts()).toBe(1);
        await server.checkBooks();
        expect(server.events).toMatchObject([{ status: 200, errorCode: code }]);
        expect((server.events[0]?.chargedMicro ?? 0) > 0).toBe(seen !== "");
      }, broken.options)(),
  );
});

describe.concurrent("the AI SDK tries again when the upstream recovers, and is charged once", () => {
  it(
    "whole",
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer("", { status: 500 }));
      expect((await generateText(settingsOf(server))).text).toBe("Hello world");
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 39]);
    }),
  );

  it(
    "streamed",
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer("", { status: 500 }));
      expect(await streamText(settingsOf(server)).text).toBe("Hello world");
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 39]);
    }),
  );
});

describe.concurrent("the AI SDK uses a stock up", () => {
  it(
    "and learns when it is back",
    withServer(async (server) => {
      const settings = settingsOf(server);
      for (let calls = 0; calls < 2; calls++) {
        await generateText(settings);
        await streamText(settings).text;
      }
      const error = await wholeError({ ...settings, maxRetries: 0 });
      expect([error.statusCode, error.isRetryable]).toEqual([429, true]);
      expect(error.message).toMatch(/usage quota exhausted: 1 of 1 credits used\. It will reset at 20\d\d-/);
      expect(error.responseHeaders).toMatchObject({
        "retry-after": expect.stringMatching(/^\d+$/),
        "x-ratelimit-remaining-session": "0",
      });
      expect([server.attempts(), server.upstream.requests.length]).toEqual([5, 4]);
    }, oneCredit()),
  );
});
