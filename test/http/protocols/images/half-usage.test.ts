import { afterAll, expect, it } from "vitest";
import { eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { image, imagesOf, imageUsage, startImages } from "../../../support/operations/images/image-samples.js";

afterAll(expectNoSockets);

/** What one image at the quality `low` and 1024x1024 counts at the most, and the prompt "A cat" with its marks. */
const [mostOutput, mostInput] = [272, 18];

const completed = (usage: unknown) => ({
  ...{ type: "image_generation.completed", b64_json: image, quality: "low", size: "1024x1024" },
  usage,
});

const servers: readonly [name: string, stream: boolean, answer: (usage: unknown) => FakeAnswer][] = [
  ["whole", false, (usage) => wholeAnswer(imagesOf(1, { usage, quality: "low", size: "1024x1024" }))],
  ["a stream", true, (usage) => eventStream([completed(usage)], { done: false })],
  [
    "whole in place of a stream",
    true,
    (usage) => wholeAnswer(imagesOf(1, { usage, quality: "low", size: "1024x1024" })),
  ],
];

/** A half that is counted is charged as it is; one that is not is estimated. 5 for each token of a text, 40 for one of an image. */
const reports: readonly [usage: unknown, input: number, output: number, source: string][] = [
  [imageUsage, 10, 100, "provider"],
  [{ input_tokens: 10 }, 10, mostOutput, "estimated"],
  [{ input_tokens: 10, output_tokens: 0, total_tokens: 10 }, 10, mostOutput, "estimated"],
  [{ input_tokens: 10, output_tokens: -5 }, 10, mostOutput, "estimated"],
  [{ input_tokens: 10, output_tokens: { image: 5 } }, 10, mostOutput, "estimated"],
  [{ input_tokens: 10, output_tokens: 2e9 }, 10, mostOutput, "estimated"],
  [{ output_tokens: 100 }, mostInput, 100, "estimated"],
  [{ input_tokens: 0, output_tokens: 100 }, mostInput, 100, "estimated"],
  [{ input_tokens: [10], output_tokens: 100 }, mostInput, 100, "estimated"],
  [{ input_tokens: 0, output_tokens: 100, total_tokens: 110 }, 10, 100, "provider"],
  [{ prompt_tokens: 10, completion_tokens: 100, prompt_tokens_details: { text_tokens: 10 } }, 10, 100, "provider"],
  [{ input_tokens: 0, output_tokens: 0, total_tokens: 0 }, mostInput, mostOutput, "estimated"],
  [undefined, mostInput, mostOutput, "estimated"],
];

it.each(servers.flatMap(([name, ...server]) => reports.map((report) => [name, ...report, ...server] as const)))(
  "%s: each half by itself, %j",
  async (_name, usage, input, output, source, stream, answer) => {
    const { post, server, nextEvent, checkBooks } = await startImages();
    server.reply(answer(usage));
    const ended = nextEvent();
    const response = await post("images/generations", { model: "acme/image", prompt: "A cat", quality: "low", stream });
    expect(response.status).toBe(200);
    await response.text();
    expect(await ended).toMatchObject({
      usageSource: source,
      tokens: { input, output, outputImage: output },
      chargedMicro: input * 5 + output * 40,
    });
    await checkBooks();
  },
);

it("of several images in a stream, a half that one of them lacks is estimated for all", async () => {
  const { post, server, nextEvent } = await startImages();
  server.reply(eventStream([completed(imageUsage), completed({ input_tokens: 10 })], { done: false }));
  const ended = nextEvent();
  await (await post("images/generations", { model: "acme/image", prompt: "A cat", n: 2, stream: true })).text();
  // 20 tokens of the prompt, and 2 images of 272.
  expect(await ended).toMatchObject({ usageSource: "estimated", chargedMicro: 20 * 5 + 544 * 40 });
});

it("is found wherever a response has it, and what is charged is shown", async () => {
  const found = { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 1290, totalTokenCount: 1302 } };
  const zeros = { usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } };
  const [input, output] = [mostInput, mostOutput];
  for (const [more, usage] of [
    [found, undefined],
    [zeros, { input_tokens: input, output_tokens: output, total_tokens: input + output }],
  ] as const) {
    const { post, server, nextEvent } = await startImages();
    server.reply(wholeAnswer({ ...imagesOf(1, { quality: "low", size: "1024x1024" }), ...more }));
    const ended = nextEvent();
    const response = await post("images/generations", { model: "acme/image", prompt: "A cat", quality: "low" });
    expect(((await response.json()) as { usage?: unknown }).usage).toEqual(usage);
    expect(await ended).toMatchObject({ chargedMicro: usage ? input * 5 + output * 40 : 12 * 5 + 1290 * 40 });
  }
});

it("what another model has written beside an image is told of", async () => {
  for (const { stream, reply } of [
    { stream: false, reply: wholeAnswer(imagesOf(1, { usage: imageUsage, svg_usage: { input_tokens: 5 } })) },
    {
      stream: true,
      reply: eventStream([{ ...completed(imageUsage), svg_usage: { input_tokens: 5 } }], { done: false }),
    },
  ]) {
    const { post, server, warnings } = await startImages();
    server.reply(reply);
    await (await post("images/generations", { model: "acme/image", prompt: "A cat", stream })).text();
    expect(warnings).toContainEqual(
      expect.objectContaining({ code: "usage_unpriced", message: expect.stringContaining("svg_usage") }),
    );
  }
});
