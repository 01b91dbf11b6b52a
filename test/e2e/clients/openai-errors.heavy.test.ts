import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { chatChunks, createGate, errorBody, eventStream, wholeAnswer } from "../../../src/testing.js";
import { collect } from "./collect.js";
import { brokenStreams, failures, smallStock } from "./failures.js";
import { oneCredit } from "./samples.js";
import { shortenWaits } from "./short-waits.js";
import { type ClientServer, expectNoSockets, withServer } from "./start-server.js";

shortenWaits();
afterAll(expectNoSockets);

const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

function clientOf({ baseURL }: ClientServer, apiKey = "sk-pro"): OpenAI {
  return new OpenAI({ baseURL, apiKey });
}

/** The error by which a request fails, as the client's own class. */
async function failureOf(request: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof OpenAI.APIError) return error;
  throw new Error(`Not an APIError: ${error}`, { cause: error });
}

const classes: Record<number, new (...values: never[]) => unknown> = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  403: OpenAI.PermissionDeniedError,
  404: OpenAI.NotFoundError,
  413: OpenAI.APIError,
  415: OpenAI.APIError,
  429: OpenAI.RateLimitError,
  502: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
  504: OpenAI.InternalServerError,
};

describe.concurrent.each([false, true])("openai, stream: %s, fails by", (stream) => {
  it.each(failures)("$name", (failure) =>
    withServer(async (server) => {
      await failure.prepare?.(server);
      const { status, code, type, param, message } = failure;
      const body = {
        ...hello,
        model: failure.model ?? hello.model,
        messages: [{ role: "user" as const, content: failure.prompt ?? "Hello!" }],
        ...failure.parameters,
        stream,
      };
      const headers = failure.headers ?? {};
      const error = await failureOf(clientOf(server, failure.key).chat.completions.create(body, { headers }));
      expect(error).toBeInstanceOf(classes[status]);
      expect(error).toMatchObject({ status, code, type, param, message: expect.stringMatching(message) });
      expect(error.requestID).toMatch(/^req_/);
      expect(error.requestID).toBe(error.headers?.get("x-request-id"));
      expect(error.headers?.get("retry-after")).toEqual(failure.retryAfter ?? null);
      expect(error.headers?.get("x-should-retry")).toBe(failure.shouldRetry ?? null);
      expect(server.attempts()).toBe(failure.attempts.openai);
      expect(server.events.map(({ requestId }) => requestId)).toContain(error.requestID);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual(Array(server.attempts()).fill(0));
    }, failure.options)(),
  );
});

describe.concurrent("openai, in the middle of a stream that breaks off", () => {
  it.each(brokenStreams)("$name, throws, and does not try again", ({ code, type, text: seen = "Hello", ...broken }) =>
    withServer(async (server) => {
      broken.prepare(server);
      let text = "";
      const read = async () => {
        for await (const chunk of await clientOf(server).chat.completions.create({ ...hello, stream: true })) {
          const piece = chunk.choices[0]?.delta.content ?? "";
          text += piece;
          if (piece !== "") broken.begun?.(server);
        }
      };
      expect(await failureOf(read())).toMatchObject({ code, type, param: null });
      expect(text).toBe(seen);
      expect(server.attempts()).toBe(1);
      await server.checkBooks();
      expect(server.events).toMatchObject([{ status: 200, errorCode: code }]);
      expect((server.events[0]?.chargedMicro ?? 0) > 0).toBe(seen !== "");
    }, broken.options)(),
  );

  it(
    "tells the .stream() helper as well",
    withServer(async (server) => {
      brokenStreams[0]?.prepare(server);
      const stream = clientOf(server).chat.completions.stream(hello);
      expect(await failureOf(stream.finalContent())).toMatchObject({ code: "bad_gateway", type: "server_error" });
    }),
  );
});

describe.concurrent("openai tries again", () => {
  it.each([false, true])("when the upstream recovers, and is charged once, stream: %s", (stream) =>
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer("", { status: 500 }));
      const answer = await clientOf(server).chat.completions.create({ ...hello, stream });
      if (Symbol.asyncIterator in answer) for await (const chunk of answer) expect(chunk.choices).toHaveLength(1);
      await server.checkBooks();
      expect(server.events.map(({ status, chargedMicro }) => [status, chargedMicro])).toEqual([
        [502, 0],
        [200, 39],
      ]);
    })(),
  );

  it(
    "when shared capacity is back",
    withServer(async (server) => {
      const busy = errorBody("Slow down", { type: "requests", code: "rate_limit_exceeded" });
      server.upstream.replyOnce(wholeAnswer(busy, { status: 429 }));
      expect((await clientOf(server).chat.completions.create(hello)).choices).toHaveLength(1);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 39]);
    }),
  );
});

describe.concurrent("openai waits for a stock that requests in flight hold", () => {
  it(
    "as long as its retries last",
    withServer(async (server) => {
      const gate = createGate();
      gate.step(3);
      server.upstream.replyOnce(eventStream(chatChunks(), { gate }));
      const client = clientOf(server);
      const first = await client.chat.completions.create({ ...hello, stream: true });
      const error = await failureOf(client.chat.completions.create(hello));
      expect(error).toMatchObject({ status: 429, code: "session_limit_exceeded", type: "requests" });
      expect(error.message).toMatch(/held by requests in flight.*Try again in [1-5]s\.$/);
      expect(error.headers?.get("retry-after")).toMatch(/^[1-5]$/);
      expect(error.headers?.has("x-should-retry")).toBe(false);
      expect(server.attempts()).toBe(4);
      gate.open();
      await collect(first);
      expect((await client.chat.completions.create(hello)).choices).toHaveLength(1);
    }, smallStock),
  );
});

describe.concurrent("openai uses a stock up", () => {
  it.each([undefined, 60_000])("and then makes exactly one attempt, sessions of %s ms", (sessionMs) =>
    withServer(async (server) => {
      const client = clientOf(server);
      for (let calls = 0; calls < 4; calls++)
        await client.chat.completions.create({ ...hello, stream: calls % 2 === 1 });
      const error = await failureOf(client.chat.completions.create(hello));
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error).toMatchObject({ code: "session_limit_exceeded", type: "insufficient_quota" });
      expect(error.message).toMatch(/usage quota exhausted: 1 of 1 credits used\. It will reset at 20\d\d-/);
      expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(0);
      expect(Object.fromEntries(error.headers ?? [])).toMatchObject({
        "x-should-retry": "false",
        "x-ratelimit-limit-session": "1",
        "x-ratelimit-remaining-session": "0",
        "x-ratelimit-reset": error.headers?.get("x-ratelimit-reset-session"),
      });
      expect(server.attempts()).toBe(5);
      expect(server.upstream.requests).toHaveLength(4);
    }, oneCredit(sessionMs))(),
  );
});
