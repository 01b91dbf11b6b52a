import { Buffer } from "node:buffer";
import { describe, expect, it, onTestFinished } from "vitest";
import { llamaCpp } from "../../../src/providers/local-presets.js";
import { eventStream, type FakeAnswer, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { baseModel } from "../../support/completion-samples.js";
import { readEvents, smallModel, startTestGateway } from "../../support/test-gateway.js";

// The shapes are those of llama-server b11434, without `timings`.

const usageOf = (prompt_tokens: number, completion_tokens: number, cached_tokens = 0) => ({
  completion_tokens,
  prompt_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  prompt_tokens_details: { cached_tokens },
});
const head = { created: 1_795_867_303, model: "letters.gguf", system_fingerprint: "b11434", id: "chatcmpl-uzXPmOeDQy" };

/** Of a completion, or of a chunk: the usage, if it has one, is that of this choice. */
function choice(text: string, index: number, more: { finish?: string; usage?: object; logprobs?: object } = {}) {
  const { finish: finish_reason = null, usage, logprobs = null } = more;
  const choices = [{ text, index, logprobs, finish_reason }];
  return { choices, ...head, object: "text_completion", ...(usage && { usage }) };
}

function content(token: string, logprob: number | null, top: [string, number][]) {
  const top_logprobs = top.map(([other, chance]) => ({ id: 282, token: other, bytes: [121], logprob: chance }));
  return { id: 282, token, bytes: [121], logprob, top_logprobs };
}

async function start() {
  const server = await startFakeUpstream();
  onTestFinished(() => server.close());
  const price = { input: 1, output: 10 };
  const rank = { id: "acme/rank", type: "rerank", price: { input: 1 }, contextLength: 512 } as const;
  const test = await startTestGateway({
    models: [
      { ...baseModel, price },
      { ...smallModel, price },
      { ...rank, upstream: { provider: "fake", model: "ranks" } },
      {
        id: "acme/hear",
        type: "transcription",
        maxOutputTokens: 100,
        price,
        upstream: { provider: "fake", model: "x" },
      },
    ],
    providers: { fake: llamaCpp({ baseURL: `${server.origin}/v1` }) },
  });
  onTestFinished(() => test.close());
  const post = (path: string, body: object) =>
    test.gateway.handler(
      new Request(`http://gateway.test/v1/${path}`, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  return {
    ...test,
    server,
    complete: (members: object = {}) => post("completions", { model: "acme/base", prompt: "The", ...members }),
    chat: (members: object = {}) =>
      post("chat/completions", { model: "acme/small", messages: [{ role: "user", content: "Hi" }], ...members }),
    hear: (fields: Record<string, string> = {}) => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ model: "acme/hear", ...fields })) form.append(name, value);
      form.append("file", new Blob(["RIFF"]), "talk.wav");
      const headers = { authorization: "Bearer sk-pro" };
      const url = "http://gateway.test/v1/audio/transcriptions";
      return test.gateway.handler(new Request(url, { method: "POST", headers, body: form }));
    },
    rank: (members: object = {}) =>
      post("rerank", { model: "acme/rank", query: "a", documents: ["b", "c"], ...members }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
const jsonOf = async (response: Response) => (await response.json()) as any;
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
const chunksOf = async (response: Response): Promise<any[]> =>
  (await readEvents(response)).filter((data) => data !== "[DONE]").map((data) => JSON.parse(data));

describe("several choices of llama.cpp", () => {
  /** Two prompts with two choices each; where the second prompt begins, an event of nothing. */
  const streamed: FakeAnswer = eventStream([
    choice("v", 0),
    choice(" ", 1),
    choice("", 0, { finish: "length", usage: usageOf(5, 3, 4) }),
    choice("", 1, { finish: "stop", usage: usageOf(5, 2, 4) }),
    "data: null\n\n",
    choice("S", 2),
    choice("I", 3),
    choice("", 2, { finish: "length", usage: usageOf(3, 3, 2) }),
    choice("", 3, { finish: "length", usage: usageOf(3, 3, 2) }),
  ]);

  it("of several prompts are charged as the sum of what their stream reports; the client gets it once", async () => {
    const { complete, server, events } = await start();
    server.reply(streamed);
    const asked = { prompt: ["The", "A"], n: 2, max_tokens: 3, stream: true };
    const chunks = await chunksOf(await complete({ ...asked, stream_options: { include_usage: true } }));
    const total = { prompt_tokens: 8, completion_tokens: 11, total_tokens: 19 };
    expect(chunks.filter(({ usage }) => usage)).toMatchObject([{ choices: [], usage: total }]);
    expect(chunks.at(-1).usage.prompt_tokens_details).toEqual({ cached_tokens: 6 });
    expect(events[0]).toMatchObject({ usageSource: "provider", chargedMicro: 8 + 110 });
    const without = await chunksOf(await complete(asked));
    expect(without.some((chunk) => "usage" in chunk)).toBe(false);
    expect(events[1]?.chargedMicro).toBe(events[0]?.chargedMicro);
  });

  it("of a chat are charged as the sum, too", async () => {
    const { chat, server, events } = await start();
    const chunk = (delta: object, index: number, finish: string | null = null) => ({
      choices: [{ finish_reason: finish, index, delta }],
      ...head,
      object: "chat.completion.chunk",
    });
    const used = (usage: object) => ({ choices: [], ...head, object: "chat.completion.chunk", usage });
    server.reply(
      eventStream([
        chunk({ role: "assistant", content: null }, 0),
        chunk({ role: "assistant", content: null }, 1),
        chunk({ content: "a" }, 0),
        chunk({ content: "b" }, 1),
        chunk({}, 0, "length"),
        used(usageOf(9, 2)),
        chunk({ content: "c" }, 1),
        chunk({}, 1, "stop"),
        used(usageOf(9, 3)),
      ]),
    );
    const asked = { n: 2, max_tokens: 3, stream: true, stream_options: { include_usage: true } };
    const chunks = await chunksOf(await chat(asked));
    expect(chunks.filter(({ usage }) => usage)).toMatchObject([
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } },
    ]);
    expect(chunks.every(({ choices, usage }) => choices.length > 0 || usage)).toBe(true);
    expect(events[0]).toMatchObject({ usageSource: "provider", chargedMicro: 9 + 50 });
  });

  it("in a whole response, which reports the first alone, are estimated", async () => {
    const { complete, chat, server, events } = await start();
    const texts = ["One two three", "Four five six seven", "Eight nine", "Ten eleven"];
    const choices = texts.map((text, index) => ({ text, index, logprobs: null, finish_reason: "length" }));
    server.reply(wholeAnswer({ choices, ...head, object: "text_completion", usage: usageOf(2, 3) }));
    const asked = { prompt: ["The old man and the sea", "A farewell to arms"], n: 2, max_tokens: 20 };
    const { usage } = await jsonOf(await complete(asked));
    const { input = 0, output = 0 } = events[0]?.tokens ?? {};
    expect(usage).toMatchObject({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output });
    expect(events[0]).toMatchObject({ usageSource: "estimated", chargedMicro: input + 10 * output });
    expect(input).toBeGreaterThanOrEqual(10);
    expect(output).toBeGreaterThanOrEqual(11);
    expect(output).toBeLessThanOrEqual(80);

    const messages = texts.map((content, index) => ({
      finish_reason: "stop",
      index,
      message: { role: "assistant", content },
    }));
    server.reply(wholeAnswer({ choices: messages, ...head, object: "chat.completion", usage: usageOf(7, 3) }));
    const answer = await jsonOf(await chat({ n: 4, max_tokens: 20 }));
    expect(answer.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: output });
    expect(events[1]).toMatchObject({ usageSource: "estimated", chargedMicro: 7 + 10 * output });
  });

  it("that are one are what the server reports", async () => {
    const { complete, server, events } = await start();
    server.reply(wholeAnswer(choice("One two", 0, { finish: "length", usage: usageOf(2, 3) })));
    expect((await jsonOf(await complete())).usage).toEqual(usageOf(2, 3));
    server.reply(eventStream([choice("v", 0), choice("", 0, { finish: "length", usage: usageOf(5, 3) })]));
    const chunks = await chunksOf(await complete({ stream: true, stream_options: { include_usage: true } }));
    expect(chunks.at(-1).usage).toEqual(usageOf(5, 3));
    expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([32, 35]);
  });
});

describe("log probabilities of llama.cpp", () => {
  const first = content("y", -3.5, [
    [" ", -1.5],
    ["s", -2],
  ]);
  const second = content("es", null, [["k", -2.5]]);

  it("become the lists of the older API", async () => {
    const { complete, server } = await start();
    const logprobs = { content: [first, second] };
    server.reply(wholeAnswer(choice("yes", 0, { finish: "length", usage: usageOf(5, 2), logprobs })));
    const { choices } = await jsonOf(await complete({ logprobs: 2 }));
    expect(choices[0].logprobs).toEqual({
      tokens: ["y", "es"],
      token_logprobs: [-3.5, -9999],
      top_logprobs: [{ " ": -1.5, s: -2 }, { k: -2.5 }],
      text_offset: [0, 1],
    });
  });

  it("go on from chunk to chunk of each choice", async () => {
    const { complete, server } = await start();
    const chunks = [
      choice("y", 0, { logprobs: { content: [first] } }),
      choice("es", 1, { logprobs: { content: [second] } }),
      choice("es", 0, { logprobs: { content: [second] } }),
      choice("y", 1, { logprobs: { content: [first] } }),
      choice("", 0, { finish: "length", usage: usageOf(5, 2) }),
      choice("", 1, { finish: "length", usage: usageOf(5, 2) }),
    ];
    server.reply(eventStream(chunks));
    const sent = await chunksOf(await complete({ logprobs: 2, n: 2, stream: true }));
    const offsets = sent.map(({ choices: [{ index, logprobs }] }) => [index, logprobs?.text_offset ?? null]);
    expect(offsets).toEqual([
      [0, [0]],
      [1, [0]],
      [0, [1]],
      [1, [2]],
      [0, null],
      [1, null],
    ]);
  });
});

describe("what llama.cpp does not do", () => {
  it.each([
    ["echo", { echo: true }],
    ["suffix", { suffix: "." }],
  ])("is refused before the call: %s, which it leaves out without a word", async (param, members) => {
    const { complete, server } = await start();
    const { error } = await jsonOf(await complete(members));
    expect(error).toMatchObject({ code: "unsupported_parameter", param });
    expect(server.requests).toHaveLength(0);
    server.reply(wholeAnswer(choice("a", 0, { finish: "stop", usage: usageOf(1, 1) })));
    expect((await complete({ echo: false, suffix: null })).status).toBe(200);
  });

  it("is a 400 where it calls a text that is too long its own failure, and no other attempt is made", async () => {
    const { rank, server, events } = await start();
    const message =
      "input (906 tokens) is too large to process. increase the physical batch size (current batch size: 512)";
    const error = { code: 500, message, type: "server_error" };
    server.reply(wholeAnswer(Buffer.from(JSON.stringify({ error })), { status: 500 }));
    const response = await rank();
    expect(response.status).toBe(400);
    expect((await jsonOf(response)).error).toMatchObject({ code: "context_length_exceeded", param: "query" });
    expect(server.requests).toHaveLength(1);
    expect(events[0]).toMatchObject({ chargedMicro: 0 });
  });
});

describe("transcripts of llama.cpp", () => {
  const usage = {
    type: "tokens",
    input_tokens: 855,
    output_tokens: 13,
    total_tokens: 868,
    input_tokens_details: { cached_tokens: 854 },
  };
  const done = { type: "transcript.text.done", text: "REat amells.", usage };

  it("are asked for as JSON, and charged by its tokens", async () => {
    const { hear, server, events } = await start();
    server.reply(wholeAnswer(done));
    expect(await (await hear({ response_format: "text" })).text()).toBe("REat amells.\n");
    expect(server.lastRequest.body.toString()).toMatch(/name="response_format"\r\n\r\njson\r\n/);
    expect((await jsonOf(await hear())).usage).toEqual(usage);
    expect(events).toMatchObject(Array(2).fill({ usageSource: "provider", chargedMicro: 855 + 130 }));
  });

  it("pass as events, which end with the usage", async () => {
    const { hear, server, events } = await start();
    const deltas = ["REat", " amells.", ""].map((delta) => ({ type: "transcript.text.delta", delta }));
    server.reply(eventStream([...deltas, done]));
    expect(await chunksOf(await hear({ stream: "true" }))).toEqual([...deltas, done]);
    expect(events[0]).toMatchObject({ usageSource: "provider", chargedMicro: 855 + 130 });
  });

  it("with times are what its server refuses", async () => {
    const { hear, server } = await start();
    const message = "Only 'json' response_format is supported for transcription";
    const error = { code: 400, message, type: "invalid_request_error" };
    server.reply(wholeAnswer(Buffer.from(JSON.stringify({ error })), { status: 400 }));
    const response = await hear({ response_format: "srt" });
    expect(response.status).toBe(400);
    expect((await jsonOf(response)).error).toMatchObject({ code: "upstream_rejected", message });
  });
});
