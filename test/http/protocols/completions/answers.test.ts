import { describe, expect, it } from "vitest";
import type { ResponseGuard } from "../../../../src/hooks/response-guard.js";
import { completionResponses } from "../../../../src/protocols/completions/completions.js";
import { createGate, errorBody, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { textChunk, textChunks, textCompletion } from "../../../support/completion-samples.js";
import { readEvents } from "../../../support/test-gateway.js";
import { jsonOf, startCompletions } from "./start-completions.js";

describe("a whole completion", () => {
  it("that needs no change stays as it is, byte for byte", async () => {
    const { complete, server, events } = await startCompletions();
    const answer = `{"id":"cmpl-1","object":"text_completion", "created":1,"choices":[{"text":"a","index":0,"finish_reason":"length","logprobs":{"tokens":["a"],"token_logprobs":[-0.10]}}],"model":"upstream-small","usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"x":1.0}}`;
    server.reply(wholeAnswer(Buffer.from(answer)));
    expect(await (await complete()).text()).toBe(answer.replace("upstream-small", "acme/base"));
    expect(events[0]).toMatchObject({
      endpoint: "completions",
      responseId: "cmpl-1",
      finishReason: "length",
      usageSource: "provider",
      chargedMicro: 25,
    });
  });

  it("is made whole where a server leaves something out", async () => {
    const { complete, server } = await startCompletions();
    server.reply(wholeAnswer({ choices: [{ text: "a" }, { text: null, index: 1 }], error: null }));
    const json = await jsonOf(await complete({ n: 2 }));
    expect(json).toEqual({
      id: expect.stringMatching(/^cmpl-/),
      object: "text_completion",
      created: expect.any(Number),
      model: "acme/base",
      choices: [
        { text: "a", index: 0, finish_reason: "stop" },
        { text: "", index: 1, finish_reason: "stop" },
      ],
      usage: expect.objectContaining({ completion_tokens: 2 }),
    });
  });

  it.each([
    ["a text", "Once upon a time", ["Once upon a time, there was"]],
    ["texts", ["Once", "Twice"], ["Once, there was", "Twice"]],
  ])("without usage is charged for what follows an echoed prompt of %s", async (_name, prompt, texts) => {
    const { complete, server, events } = await startCompletions();
    server.reply(wholeAnswer(textCompletion(texts, null)));
    await complete({ prompt, echo: true, max_tokens: 50 });
    const echoed = events[0];
    server.reply(wholeAnswer(textCompletion([", there was", ""].slice(0, texts.length), null)));
    await complete({ prompt, max_tokens: 50 });
    expect(echoed).toMatchObject({ usageSource: "estimated", tokens: events[1]?.tokens });
    expect(echoed?.tokens.output).toBeGreaterThan(2);
  });

  it.each([
    ["has a choice for one prompt of two", textCompletion(["a"])],
    ["has no text", { ...textCompletion(), choices: [{ index: 0, message: { content: "a" }, text: 5 }] }],
    ["is chat", { choices: "none" }],
  ])("is a 502 where it %s", async (_name, answer) => {
    const { complete, server, events } = await startCompletions();
    server.reply(wholeAnswer(answer));
    expect((await complete({ prompt: ["a", "b"] })).status).toBe(502);
    expect(events[0]).toMatchObject({ errorCode: "bad_gateway" });
  });

  it("a long one with long texts is charged the same, and its texts stay", async () => {
    const { complete, server, events } = await startCompletions();
    const text = "word ".repeat(2000);
    server.reply(wholeAnswer(textCompletion([text, text], null)));
    const json = await jsonOf(await complete({ n: 2, max_tokens: null }));
    expect(json.choices[1].text).toBe(text);
    expect(events[0]).toMatchObject({ usageSource: "estimated", tokens: { output: 200 } });
  });

  it("an error of the upstream names the client's model and no secret", async () => {
    const { complete, server } = await startCompletions();
    server.reply(
      wholeAnswer(errorBody("upstream-small: bad prompt sk-upstream-secret", { param: "prompt" }), { status: 400 }),
    );
    const response = await complete();
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(text).not.toMatch(/upstream-small|sk-upstream/);
  });
});

describe("a streamed completion", () => {
  const textsOf = (events: readonly string[]) =>
    events.slice(0, -1).flatMap((event) => JSON.parse(event).choices.map((choice: { text: string }) => choice.text));

  it("has usage asked for, and shown to a client only that wants it", async () => {
    const { complete, server, events } = await startCompletions();
    server.reply(eventStream(textChunks()));
    const plain = await readEvents(await complete({ stream: true }));
    expect(server.lastRequest.json.stream_options).toEqual({ include_usage: true });
    expect(textsOf(plain)).toEqual(["Hello", " world", ""]);
    expect(plain.at(-1)).toBe("[DONE]");
    expect(plain.join("")).not.toContain("usage");
    expect(JSON.parse(plain[0] ?? "")).toEqual({ ...textChunk("Hello"), model: "acme/base" });
    const asked = await readEvents(await complete({ stream: true, stream_options: { include_usage: true } }));
    expect(JSON.parse(asked.at(-2) ?? "")).toMatchObject({
      object: "text_completion",
      choices: [],
      usage: { total_tokens: 12 },
    });
    expect(events).toMatchObject([{ usageSource: "provider", chargedMicro: 39 }, { chargedMicro: 39 }]);
  });

  it("of several prompts and choices ends when each of them has, whatever their order", async () => {
    const { complete, server, events } = await startCompletions();
    const order = [3, 0, 5, 1, 4, 2];
    const chunks = [
      ...order.map((index) => textChunk(`t${index}`, index)),
      ...order.map((index) => textChunk("", index, index === 0 ? "length" : "stop")),
    ];
    server.reply(eventStream(chunks, { done: false }));
    const stream = await readEvents(await complete({ prompt: ["a", "b", "c"], n: 2, stream: true }));
    expect(stream.at(-1)).toBe("[DONE]");
    expect(events[0]).toMatchObject({ status: 200, endReason: "completed", finishReason: "length" });

    server.reply(eventStream(chunks.slice(0, -1), { done: false }));
    const cut = await readEvents(await complete({ prompt: ["a", "b", "c"], n: 2, stream: true }));
    expect(JSON.parse(cut.at(-1) ?? "")).toHaveProperty("error");
    expect(events[1]).toMatchObject({ endReason: "upstream_failed" });
  });

  it("of a server that knows no `n` ends where the server says so; without all prompts it fails", async () => {
    const { complete, server } = await startCompletions();
    const one = [textChunk("a"), textChunk("", 0, "stop")];
    server.reply(eventStream(one));
    expect((await readEvents(await complete({ n: 2, stream: true }))).at(-1)).toBe("[DONE]");
    server.reply(eventStream(one));
    const missing = await readEvents(await complete({ prompt: ["a", "b"], stream: true }));
    expect(JSON.parse(missing.at(-1) ?? "")).toHaveProperty("error");
  });

  it.each([
    ["a choice that nobody asked for", textChunk("a", 1)],
    ["a choice below 0", textChunk("a", -1)],
    ["no choice", { choices: [5] }],
    ["an error in a choice", { choices: [{ index: 0, text: "", error: { message: "Broken.", code: 500 } }] }],
    ["an error", { error: { message: "Broken.", code: 500 } }],
  ])("fails by %s", async (_name, chunk) => {
    const { complete, server, events } = await startCompletions();
    server.reply(eventStream([textChunk("Hello"), chunk]));
    const stream = await readEvents(await complete({ stream: true }));
    expect(JSON.parse(stream.at(-1) ?? "")).toHaveProperty("error");
    expect(events[0]?.endReason).toMatch(/^upstream_/);
  });

  it("without usage is charged for what follows the echoed prompt, in whatever pieces that comes", async () => {
    const { complete, server, events } = await startCompletions();
    const pieces = ["Once", " upon a", " time, there", " was"];
    server.reply(eventStream(textChunks(pieces, null)));
    await (await complete({ prompt: "Once upon a time", echo: true, stream: true, max_tokens: 50 })).text();
    server.reply(eventStream(textChunks([", there", " was"], null)));
    await (await complete({ prompt: "Once upon a time", stream: true, max_tokens: 50 })).text();
    expect(events[0]).toMatchObject({ usageSource: "estimated", tokens: events[1]?.tokens });
  });

  it("is made of a document, where the server sends one instead", async () => {
    const { complete, server } = await startCompletions();
    server.reply(wholeAnswer(textCompletion(["a", "b"])));
    const stream = await readEvents(await complete({ prompt: ["x", "y"], stream: true }));
    expect(textsOf(stream)).toEqual(["a", "b"]);
    expect(stream.at(-1)).toBe("[DONE]");
  });

  it("is charged for what was written when its client leaves", async () => {
    const { complete, server, nextEvent } = await startCompletions();
    const gate = createGate();
    server.reply(eventStream(textChunks(["Hello", " world"]), { gate }));
    gate.step(2);
    const ended = nextEvent();
    const response = await complete({ stream: true, max_tokens: 9 });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    const { status, chargedMicro, usageSource } = await ended;
    expect({ status, usageSource }).toEqual({ status: 200, usageSource: "partial" });
    expect(chargedMicro).toBeGreaterThan(10);
    gate.open();
  });
});

it("a chunk adds its piece to the text of its choice", () => {
  expect(completionResponses.addedBy(textChunk("a", 3))).toEqual([{ path: "choices[3].text", text: "a" }]);
});

describe("a guard", () => {
  const seen: unknown[] = [];
  const guards: ResponseGuard[] = [
    {
      name: "secrets",
      answer: ({ texts, finishReasons }) => {
        seen.push({ texts, finishReasons });
        return texts.some(({ text }) => text.includes("SECRET")) ? { refuse: "Not this." } : undefined;
      },
    },
  ];

  it.each([true, false])("sees the texts of all choices, and may refuse them (streamed: %s)", async (stream) => {
    seen.length = 0;
    const { complete, server, events } = await startCompletions({ guards });
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    server.reply(
      stream
        ? eventStream([
            textChunk("The SEC"),
            textChunk("Hello", 1, "length"),
            textChunk("RET"),
            textChunk("", 0, "stop"),
            { ...textChunk("x"), choices: [], usage },
          ])
        : wholeAnswer(textCompletion(["The SECRET", "Hello"])),
    );
    const response = await complete({ n: 2, stream, ...(stream ? { stream_options: { include_usage: true } } : {}) });
    const text = await response.text();
    expect(seen).toEqual([
      {
        texts: [
          { path: "choices[0].text", text: "The SECRET" },
          { path: "choices[1].text", text: "Hello" },
        ],
        finishReasons: ["stop", stream ? "length" : "stop"],
      },
    ]);
    expect(text).not.toMatch(/SEC|RET|Hello/);
    const answers = stream
      ? text
          .split("\n\n")
          .filter((event) => event.startsWith("data: {"))
          .map((event) => JSON.parse(event.slice(6)))
      : [JSON.parse(text)];
    const refused = { text: "Not this.", logprobs: null, finish_reason: "content_filter" };
    expect(answers[0]).toMatchObject({ id: "cmpl-sample", object: "text_completion", model: "acme/base" });
    expect(answers[0].choices).toEqual([
      { ...refused, index: 0 },
      { ...refused, index: 1 },
    ]);
    expect(answers.at(-1).usage).toMatchObject(usage);
    expect(events[0]).toMatchObject({ finishReason: "content_filter", chargedMicro: 39 });
  });
});
