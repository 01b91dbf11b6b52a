import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, describe, expect, it, vi } from "vitest";
import { chatChunks, createGate, eventStream, wholeAnswer } from "../../../src/testing.js";
import { type LimitedServer, withLimited } from "../../support/call/limits/start-limited.js";
import { collect } from "./collect.js";
import { expectNoSockets } from "./start-server.js";

afterAll(expectNoSockets);

const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

const openaiOf = ({ baseURL }: LimitedServer, maxRetries: number, apiKey = "sk-pro") =>
  new OpenAI({ baseURL, apiKey, maxRetries });
const anthropicOf = ({ baseURL }: LimitedServer, maxRetries: number, apiKey = "sk-pro") =>
  new Anthropic({ baseURL: baseURL.replace("/v1", ""), apiKey, maxRetries });

async function failureOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => new Error("It should have failed."),
    (thrown: unknown) => thrown,
  );
}

describe("openai", () => {
  it(
    "makes exactly as many of 300 calls at once as the rate admits",
    withLimited({ rates: { requestsPerMinute: 100 } }, async (server) => {
      server.upstream.reply(wholeAnswer());
      const { completions } = openaiOf(server, 0).chat;
      const results = await Promise.allSettled(Array.from({ length: 300 }, () => completions.create(hello)));
      const failed = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(failed).toHaveLength(200);
      expect(failed.every((error) => error instanceof OpenAI.RateLimitError)).toBe(true);
      expect(failed[0]).toMatchObject({ status: 429, code: "rate_limit_exceeded", type: "requests" });
      expect(server.upstream.requests).toHaveLength(100);
    }),
  );

  it(
    "waits for `retry-after-ms`, no longer, and then gets its answer",
    withLimited({ rates: { requestsPerMinute: { limit: 438, burst: 1 } } }, async (server) => {
      server.upstream.reply(wholeAnswer());
      const { completions } = openaiOf(server, 1).chat;
      await completions.create(hello);
      const denied = server.nextEvent();
      const timers = vi.spyOn(globalThis, "setTimeout");
      try {
        const second = completions.create(hello);
        expect(await denied).toMatchObject({ status: 429, errorCode: "rate_limit_exceeded" });
        server.clock.advance(137);
        expect((await second).choices).toHaveLength(1);
        expect(timers.mock.calls.map(([, delay]) => delay)).toContain(137);
      } finally {
        timers.mockRestore();
      }
      expect(server.attempts()).toBe(3);
    }),
  );

  it(
    "reads what is left from the headers of a stream, which counts until its end",
    withLimited({ rates: { requestsPerMinute: 5, concurrent: 1 } }, async (server) => {
      const gate = createGate();
      server.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
      gate.step(2);
      const { completions } = openaiOf(server, 0).chat;
      const { data, response } = await completions.create({ ...hello, stream: true }).withResponse();
      expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("4");
      expect(response.headers.get("x-ratelimit-reset-requests")).toBe("12s");
      expect(await failureOf(completions.create(hello))).toMatchObject({ status: 429, type: "requests" });
      gate.open();
      await collect(data);
      server.upstream.reply(wholeAnswer());
      expect((await completions.create(hello)).choices).toHaveLength(1);
    }),
  );

  it(
    "does not try again when its key's cap is used up",
    withLimited({ limited: { "sk-a": { credits: { total: 0.000001 } } } }, async (server) => {
      server.upstream.reply(wholeAnswer());
      const client = openaiOf(server, 3, "sk-a");
      await client.chat.completions.create(hello);
      const error = await failureOf(client.chat.completions.create(hello));
      expect(error).toMatchObject({ status: 429, code: "key_limit_exceeded", type: "insufficient_quota" });
      expect(server.attempts()).toBe(2);
    }),
  );
});

describe("@anthropic-ai/sdk", () => {
  it(
    "gets a RateLimitError of its own protocol, whole and streamed",
    withLimited({ rates: { tokensPerMinute: 1 } }, async (server) => {
      server.upstream.reply(wholeAnswer());
      const { messages } = anthropicOf(server, 0);
      await messages.create({ ...hello, max_tokens: 10 });
      for (const stream of [false, true]) {
        const error = await failureOf(messages.create({ ...hello, max_tokens: 10, stream }));
        expect(error).toBeInstanceOf(Anthropic.RateLimitError);
        expect(error).toMatchObject({ status: 429, error: { type: "error", error: { type: "rate_limit_error" } } });
      }
      expect(server.upstream.requests).toHaveLength(1);
    }),
  );

  it(
    "does not try again when its key's cap is used up",
    withLimited({ limited: { "sk-a": { credits: { day: 0 } } } }, async (server) => {
      const error = await failureOf(anthropicOf(server, 3, "sk-a").messages.create({ ...hello, max_tokens: 10 }));
      expect(error).toBeInstanceOf(Anthropic.RateLimitError);
      expect(server.attempts()).toBe(1);
    }),
  );
});
