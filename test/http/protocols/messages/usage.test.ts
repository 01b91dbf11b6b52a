import { afterAll, describe, expect, it } from "vitest";
import type { Price } from "../../../../src/prices/price.js";
import { type EventStreamOptions, eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { textTokens } from "../../../../src/tokens/text-tokens.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import {
  frame,
  type NativeEvent,
  nativeEvents,
  nativeMessage,
  nativeTarget,
} from "../../../support/operations/messages/message-samples.js";
import {
  type MessagesServer,
  readMessageEvents,
  withMessages,
} from "../../../support/operations/messages/messages-server.js";
import { smallModel } from "../../../support/test-gateway.js";

afterAll(expectNoSockets);

type Members = Record<string, unknown>;

const text = "0123456789".repeat(3);

const whole = (message: Members): FakeAnswer => wholeAnswer({ ...nativeMessage({ text }), ...message });

/** A stream whose usage comes with its end. */
function streamed(usage: Members, options: EventStreamOptions = {}): FakeAnswer {
  const events = nativeEvents().map(
    (event): NativeEvent => (event.type === "message_delta" ? { ...event, usage } : event),
  );
  return eventStream(events.map(frame), { done: false, ...options });
}

function post({ baseURL }: MessagesServer, path: string, body: object): Promise<Response> {
  return fetch(`${baseURL}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/small", ...body }),
  });
}

const prompt = { messages: [{ role: "user", content: "Say hello." }] };

/** What clients of each protocol send, and where its answers say what was counted. */
const clients: readonly [name: string, path: string, body: object, counts: readonly [input: string, output: string]][] =
  [
    ["Messages", "/messages", { ...prompt, max_tokens: 500 }, ["input_tokens", "output_tokens"]],
    ["chat completions", "/chat/completions", prompt, ["prompt_tokens", "completion_tokens"]],
    ["Responses", "/responses", { input: "Say hello." }, ["input_tokens", "output_tokens"]],
  ];

const priced = (price: Partial<Price>) => ({ models: [{ ...smallModel, price: { input: 4, output: 20, ...price } }] });

describe("a compaction and what it read", () => {
  const usage = {
    input_tokens: 23_000,
    output_tokens: 1000,
    iterations: [
      { type: "compaction", input_tokens: 180_000, output_tokens: 3500 },
      { type: "message", input_tokens: 23_000, output_tokens: 1000 },
    ],
  };

  it.each(clients)("is charged to a client of %s, whole and streamed", (_name, path, body) =>
    withMessages(nativeTarget, async (server) => {
      for (const stream of [false, true]) {
        server.upstream.replyOnce(stream ? streamed(usage) : whole({ usage }));
        await (await post(server, path, { ...body, stream })).text();
      }
      for (const event of server.events) {
        expect(event).toMatchObject({
          usageSource: "provider",
          tokens: { input: 203_000, output: 4500 },
          chargedMicro: 203_000 + 45_000,
        });
      }
      expect(server.events).toHaveLength(2);
      // It costs more than the prompt and the output cap, for which credits were held. That is told once.
      expect(server.warnings).toMatchObject([{ code: "cost_above_hold" }]);
    })(),
  );
});

describe("what is written to a cache", () => {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 60,
    cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 20 },
    output_tokens: 3,
  };

  it.each<[string, Partial<Price>, number, string]>([
    [
      "as it is said",
      { cachedInput: 0.4, cacheWrite: 5, cacheWrite1h: 6 },
      40 + 40 + 40 * 5 + 20 * 6 + 60,
      "4/0.4/20/20/0/5/6",
    ],
    ["as Anthropic charges", { cachedInput: 0.4, cacheWrite: 5 }, 40 + 40 + 40 * 5 + 20 * 8 + 60, "4/0.4/20/20/0/5/8"],
    ["as any input", {}, 170 * 4 + 60, "4/4/20/20/0"],
  ])("for minutes and for an hour is charged %s", (_name, price, chargedMicro, version) =>
    withMessages(
      nativeTarget,
      async (server) => {
        for (const [, path, body] of clients) {
          for (const stream of [false, true]) {
            server.upstream.replyOnce(stream ? streamed(usage) : whole({ usage }));
            await (await post(server, path, { ...body, stream })).text();
          }
        }
        expect(server.events).toHaveLength(6);
        const tokens = { input: 170, cachedInput: 100, cacheWrite: 60, cacheWrite1h: 20, output: 3, reasoning: 0 };
        for (const event of server.events) expect(event).toMatchObject({ tokens, chargedMicro });
        const { entries } = await server.gateway.accounts.history("acct_pro");
        expect(entries).toHaveLength(6);
        for (const { tags } of entries)
          expect(tags).toMatchObject({ cacheWrite: 60, cacheWrite1h: 20, price: version });
      },
      priced(price),
    )(),
  );
});

describe("a tool that the server has run unasked", () => {
  it(
    "is warned of once",
    withMessages(nativeTarget, async (server) => {
      const usage = { input_tokens: 9, output_tokens: 3, server_tool_use: { web_search_requests: 2 } };
      for (const stream of [false, true, false]) {
        server.upstream.replyOnce(stream ? streamed(usage) : whole({ usage }));
        await (await server.post({ stream })).text();
      }
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39, 39]);
      expect(server.warnings).toMatchObject([
        {
          code: "usage_unpriced",
          message: expect.stringContaining('"web_search_requests" for the model "acme/small"'),
        },
      ]);
    }),
  );
});

describe("a whole message with half of its usage", () => {
  const bound = textTokens(Buffer.from(text));
  const halves: readonly [usage: unknown, input: number | undefined, output: number | undefined][] = [
    [{ input_tokens: 10 }, 10, undefined],
    [{ input_tokens: 10, output_tokens: "3" }, 10, undefined],
    [{ input_tokens: 10, output_tokens: { text: 3 } }, 10, undefined],
    [{ output_tokens: 3 }, undefined, 3],
    [{ input_tokens: "10", output_tokens: 3 }, undefined, 3],
    [{ input_tokens: 0, output_tokens: 0 }, undefined, undefined],
    ["10", undefined, undefined],
  ];

  it.each(clients)(
    "costs a client of %s an estimate of the rest, and shows it",
    (_name, path, body, [inputName, outputName]) =>
      withMessages(nativeTarget, async (server) => {
        for (const [usage, input, output] of halves) {
          server.upstream.replyOnce(whole({ usage }));
          const answer = (await (await post(server, path, body)).json()) as { usage: Record<string, number> };
          const event = server.events.at(-1);
          const tokens = event?.tokens;
          expect(event, JSON.stringify(usage)).toMatchObject({
            usageSource: "estimated",
            tokens: { output: output ?? bound },
          });
          if (input === undefined) expect(tokens?.input).toBeGreaterThan(10);
          else expect(tokens?.input).toBe(input);
          expect([answer.usage[inputName], answer.usage[outputName]]).toEqual([tokens?.input, tokens?.output]);
        }
      })(),
  );

  it(
    "is not charged for more output than it may have",
    withMessages(nativeTarget, async (server) => {
      server.upstream.replyOnce(whole({ usage: { input_tokens: 10 } }));
      await (await server.post({ max_tokens: 20 })).text();
      expect(server.events).toMatchObject([{ tokens: { input: 10, output: 20 } }]);
    }),
  );
});

describe("a message without an id", () => {
  it.each([undefined, null, 5, ""])("(%j) gets one, the same for the client and the host", (id) =>
    withMessages(nativeTarget, async (server) => {
      const ids: unknown[] = [];
      const message = { ...nativeMessage(), id };
      for (const [, path, body] of clients) {
        server.upstream.replyOnce(wholeAnswer(message));
        ids.push(((await (await post(server, path, body)).json()) as Members)["id"]);
      }
      const events = nativeEvents().map((event) => ({
        ...event,
        ...("message" in event && { message: { ...(event["message"] as Members), id } }),
      }));
      server.upstream.replyOnce(eventStream(events.map(frame), { done: false }));
      const [start] = await readMessageEvents(await server.post({ stream: true }));
      ids.push(start && (start["message"] as Members)["id"]);
      server.upstream.replyOnce(eventStream(events.map(frame), { done: false }));
      const chunks = await (await post(server, "/chat/completions", { ...prompt, stream: true })).text();
      ids.push(JSON.parse(chunks.slice("data: ".length, chunks.indexOf("\n"))).id);

      const kinds = [
        /^msg_[0-9a-f]{32}$/,
        /^chatcmpl-[0-9a-f-]{36}$/,
        /^resp_[0-9a-f]{32}$/,
        /^msg_[0-9a-f]{32}$/,
        /^chatcmpl-[0-9a-f-]{36}$/,
      ];
      expect(ids).toEqual(kinds.map((kind) => expect.stringMatching(kind)));
      expect(server.events.map(({ responseId }) => responseId)).toEqual(ids);
    })(),
  );
});
