import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { GuardedResponse } from "../../../../src/hooks/response-guard.js";
import { operations } from "../../../../src/protocols/operations.js";
import { parseEvents } from "../../../support/operations/responses/responses-server.js";
import { accumulated, eventsIn } from "../../../support/translate/message-events.js";
import {
  bodyFor,
  type ClientPath,
  type GuardedServer,
  pairs,
  passing,
  refusing,
  saying,
  startGuardedServer,
} from "./start-guarded-server.js";

const secret = { text: "The SECRET is out" };
const call = { id: "call_1", name: "find", arguments: '{"query":"the SECRET"}' };

/** What a refused answer is, in the client's own API, whole or as its stream amounts to. */
const refusals: Record<ClientPath, object> = {
  "chat/completions": {
    choices: [{ index: 0, message: { role: "assistant", refusal: "Not this." }, finish_reason: "content_filter" }],
  },
  responses: {
    status: "incomplete",
    incomplete_details: { reason: "content_filter" },
    output: [{ type: "message", content: [{ type: "refusal", refusal: "Not this." }] }],
  },
  messages: { content: [{ type: "text", text: "Not this." }], stop_reason: "refusal", stop_sequence: null },
};

const usages: Record<ClientPath, object> = {
  "chat/completions": { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  responses: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
  messages: { input_tokens: 9, output_tokens: 3 },
};

function openAIClient({ baseURL }: GuardedServer) {
  return new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
}

/** What the real client of an API makes of a stream. */
async function readByClient(server: GuardedServer, path: ClientPath, target: string): Promise<object> {
  const body = bodyFor(path, target);
  if (path === "messages") {
    const baseURL = server.baseURL.replace(/\/v1$/, "");
    const client = new Anthropic({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    return await client.messages.stream(body as Anthropic.MessageStreamParams).finalMessage();
  }
  const client = openAIClient(server);
  if (path === "responses") return await client.responses.stream(body as never).finalResponse();
  const asked = { ...body, stream_options: { include_usage: true } };
  return await client.chat.completions.stream(asked as never).finalChatCompletion();
}

describe.each(pairs)("%s on a server of %s", (path, target) => {
  it.each([true, false])(
    "a refused answer is one in the client's words, and is charged (streamed: %s)",
    async (stream) => {
      const server = await startGuardedServer([refusing]);
      server.model.reply(saying(secret));
      const asksUsage = stream && path === "chat/completions" ? { stream_options: { include_usage: true } } : {};
      const response = await server.post(path, bodyFor(path, target, { stream, ...asksUsage }));
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).not.toContain("SECRET");
      expect(text).not.toContain("The ");
      const answer = stream ? assembled(path, text) : JSON.parse(text);
      expect(answer).toMatchObject({ model: `acme/${target}`, ...refusals[path], usage: usages[path] });
      if (path === "chat/completions") expect(answer.choices[0].message.content ?? "").toBe("");
      await server.checkBooks();
      expect(server.events).toMatchObject([
        {
          status: 200,
          endReason: "completed",
          finishReason: "content_filter",
          usageSource: "provider",
          // 9 prompt tokens at 1, and 3 of output at 10 micro-credits.
          chargedMicro: 39,
          tags: { guard: "secrets" },
          guards: [{ name: "secrets", verdict: "refused", code: "secret_found", durationMs: expect.any(Number) }],
          durations: { guards: expect.any(Number) },
        },
      ]);
      const { entries } = await server.gateway.accounts.history("acct_pro");
      expect(entries).toMatchObject([{ tags: { "tag.guard": "secrets", output: 3 } }]);
    },
  );

  it("the real client reads a refused stream to its end", async () => {
    const server = await startGuardedServer([refusing]);
    server.model.reply(saying(secret));
    expect(await readByClient(server, path, target)).toMatchObject({ ...refusals[path], usage: usages[path] });
  });

  it.each([true, false])("a guard sees arguments of tools and their names (streamed: %s)", async (stream) => {
    const seen: GuardedResponse[] = [];
    const server = await startGuardedServer([{ name: "seeing", answer: (answer) => void seen.push(answer) }, refusing]);
    server.model.reply(saying({ calls: [call] }));
    const response = await server.post(path, bodyFor(path, target, { stream }));
    expect(await response.text()).not.toContain("SECRET");
    const [answer] = seen;
    expect(answer).toMatchObject({
      requestId: response.headers.get("x-request-id"),
      source: "key",
      account: "acct_pro",
      keyId: "key_pro",
      plan: "pro",
      model: `acme/${target}`,
      endpoint: path,
      stream,
      tags: {},
      usage: { input: 9, cachedInput: 0, output: 3, reasoning: 0 },
    });
    const texts = answer?.texts.map(({ text }) => text) ?? [];
    expect(texts).toContain("find");
    expect(texts.some((text) => text.includes("the SECRET"))).toBe(true);
    expect(answer?.finishReasons).toEqual([
      { "chat/completions": "tool_calls", responses: "completed", messages: "tool_use" }[path],
    ]);
  });

  it("an answer that passes is the same to the byte as without guards, whole and streamed", async () => {
    const id = { requestId: () => "same" };
    const guarded = await startGuardedServer([passing, { ...passing, name: "watching", stream: "watch" }], id);
    const plain = await startGuardedServer([], id);
    const watched = await startGuardedServer([{ ...passing, stream: "watch" }], id);
    for (const stream of [false, true]) {
      const texts = await Promise.all(
        [guarded, plain, watched].map(async (server) => {
          server.model.reply(saying({ text: "Grüße — 你好 and so on" }));
          const response = await server.post(path, bodyFor(path, target, { stream }));
          return withoutOwn(await response.text());
        }),
      );
      expect(texts[0]).toBe(texts[1]);
      expect(texts[2]).toBe(texts[1]);
    }
    expect(guarded.events[0]?.guards).toMatchObject([{ verdict: "passed" }, { verdict: "passed" }]);
    expect(plain.events[0]).not.toHaveProperty("guards");
  });
});

describe("the operations", () => {
  const textless: readonly string[] = [
    "embeddings",
    "moderations",
    "rerank",
    "images/generations",
    "images/edits",
    "audio/speech",
  ];

  it("that give texts have their answers guarded, each on every kind of server", () => {
    const guarded = operations.filter(({ answers }) => answers !== undefined).map(({ name }) => name);
    expect(guarded).toEqual(operations.filter(({ name }) => !textless.includes(name)).map(({ name }) => name));
    // No other protocol is translated into completions: test/http/protocols/completions/answers.test.ts has a guard of its own.
    // Nor into transcripts: test/http/protocols/audio/transcriptions.heavy.test.ts.
    const alone = ["completions", "audio/transcriptions", "audio/translations"];
    expect(new Set([...pairs.map(([path]) => path), ...alone])).toEqual(new Set(guarded));
  });

  it("that give vectors do not wait for guards", async () => {
    const server = await startGuardedServer([{ name: "all", answer: () => ({ refuse: "No." }) }]);
    const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
    const answer = { object: "list", data, model: "x", usage: { prompt_tokens: 3, total_tokens: 3 } };
    server.model.reply((_request, response) => void response.end(JSON.stringify(answer)));
    const response = await server.post("embeddings", { model: "acme/embed", input: "Hi" });
    expect(await response.json()).toMatchObject({ data });
    expect(server.events[0]).not.toHaveProperty("guards");
  });
});

/** Ids and times of the gateway's own differ from call to call. */
function withoutOwn(text: string): string {
  return text
    .replaceAll(/(resp|msg|fc|rs|chatcmpl)([_-])(ig_)?[0-9a-f]{20,}/g, "$1$2")
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
}

/** The whole answer that a stream amounts to. */
function assembled(path: ClientPath, text: string) {
  if (path === "messages") return accumulated(eventsIn(Buffer.from(text)));
  if (path === "responses") {
    const events = parseEvents(text);
    expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, index) => index));
    return events.at(-1)?.data["response"];
  }
  const events = text.split("\n\n").filter((event) => event !== "");
  expect(events.at(-1)).toBe("data: [DONE]");
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)));
  const [first, last] = chunks;
  expect(chunks).toHaveLength(2);
  const choices = first.choices.map(({ delta, ...rest }: { delta: object }) => ({ ...rest, message: delta }));
  return { ...first, choices, usage: last.usage };
}
