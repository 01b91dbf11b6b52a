import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  hangBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { smallModel } from "../../support/test-gateway.js";
import { collect } from "./collect.js";
import { type ClientServer, expectNoSockets, promptAlone, withServer } from "./start-server.js";

afterAll(expectNoSockets);

const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

function clientOf({ baseURL }: ClientServer): OpenAI {
  return new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
}

describe.concurrent("openai leaves", () => {
  it.each(["by a break", "by an abort"])("a stream, %s", (way) =>
    withServer(async (server) => {
      const gate = createGate();
      server.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
      gate.step(3);
      const event = server.nextEvent();
      const stream = await clientOf(server).chat.completions.create({ ...hello, stream: true });
      for await (const { choices } of stream) {
        if (choices[0]?.delta.content !== "Hello") continue;
        if (way === "by a break") break;
        stream.controller.abort();
      }
      expect(await event).toMatchObject({ endReason: "client_gone", usageSource: "partial", status: 200 });
      expect(await server.upstream.lastRequest.closed).toBe("broken");
      expect(server.events[0]?.chargedMicro).toBeGreaterThan(0);
    })(),
  );

  it.each([false, true])("before there is an answer, and pays for the prompt, stream: %s", (stream) =>
    withServer(async (server) => {
      server.upstream.reply(hangBeforeHeaders());
      const leaving = new AbortController();
      const event = server.nextEvent();
      const request = clientOf(server).chat.completions.create({ ...hello, stream }, { signal: leaving.signal });
      const refused = expect(request).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
      const upstreamRequest = await server.upstream.nextRequest();
      leaving.abort();
      await refused;
      expect(await event).toMatchObject({ endReason: "client_gone", status: 499, ...promptAlone });
      expect(await upstreamRequest.closed).toBe("broken");
    })(),
  );
});

describe.concurrent("openai loses its patience", () => {
  it(
    "and pays for the prompt of each try",
    withServer(async (server) => {
      server.upstream.reply(hangBeforeHeaders());
      const client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", timeout: 500, maxRetries: 1 });
      await expect(client.chat.completions.create(hello)).rejects.toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
      expect(server.attempts()).toBe(2);
      await server.checkBooks();
      expect(server.events).toMatchObject(Array(2).fill({ status: 499, ...promptAlone }));
      const ends = await Promise.all(server.upstream.requests.map(({ closed }) => closed));
      expect(ends).toEqual(ends.map(() => "broken"));
    }),
  );
});

describe.concurrent("openai is charged", () => {
  it(
    "by the usage that it gets to see, although the upstream sent none",
    withServer(async (server) => {
      const { completions } = clientOf(server).chat;
      server.upstream.replyOnce(wholeAnswer(chatAnswer({ usage: null })));
      const { usage } = await completions.create(hello);
      server.upstream.replyOnce(eventStream(chatChunks("Hello world", { usage: null })));
      const streamed = await completions.stream({ ...hello, stream_options: { include_usage: true } }).totalUsage();
      const prices = [usage, streamed].map((seen) => (seen?.prompt_tokens ?? 0) + 10 * (seen?.completion_tokens ?? 0));
      expect(prices.every((price) => price > 30)).toBe(true);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual(prices);
      expect(server.events).toMatchObject([{ usageSource: "estimated" }, { usageSource: "estimated" }]);
    }),
  );

  it(
    "for what each of many calls at once has cost",
    withServer(async (server) => {
      const { completions } = clientOf(server).chat;
      const whole = Array.from({ length: 12 }, () => completions.create(hello));
      const streams = Array.from({ length: 12 }, async () => {
        const chunks = await collect(await completions.create({ ...hello, stream: true }));
        return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      });
      expect(await Promise.all(streams)).toEqual(Array(12).fill("Hello world"));
      expect((await Promise.all(whole)).map(({ choices }) => choices[0]?.message.content)).toEqual(
        Array(12).fill("Hello world"),
      );
      await server.checkBooks();
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual(Array(24).fill(39));
    }),
  );

  it(
    "as the headers say",
    withServer(
      async (server) => {
        const { completions } = clientOf(server).chat;
        const remaining: (string | null)[] = [];
        for (let calls = 0; calls < 4; calls++) {
          const { response } = await completions.create(hello).withResponse();
          remaining.push(response.headers.get("x-ratelimit-remaining-session"));
        }
        expect(remaining).toEqual(["8", "6", "4", "2"]);
        expect(server.events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0)).toBe(8_000_000);
      },
      {
        models: [{ ...smallModel, price: { input: 0, output: 0, request: 2 } }],
        plans: memoryPlanStore({ pro: { models: ["*"], credits: { session: 10 } }, basic: { models: [] } }),
      },
    ),
  );
});
