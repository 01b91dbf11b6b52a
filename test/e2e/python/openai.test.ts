import { describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { sampleVector } from "../../support/embedding-samples.js";
import { everyCharge, startEvery } from "../../support/every-operation.js";
import { formEntries, heardText, madeImage, spokenSound } from "../../support/honest-server.js";
import { hasPython, runPython } from "./support/run-python.js";

const b64_json = madeImage.toString("base64");

/** The charge of each call that has ended, by its endpoint. */
const charges = ({ events }: Awaited<ReturnType<typeof startEvery>>) =>
  events.map(({ endpoint, chargedMicro }) => [endpoint, chargedMicro]);

describe.skipIf(!hasPython)("OpenAI's client in Python", () => {
  it("calls every operation", async () => {
    const every = await startEvery();
    expect(await runPython("openai", every.baseURL, "whole")).toEqual({
      chat: "Hello world",
      vectors: [sampleVector("one"), sampleVector("two")],
      completions: [0, 1, 2, 3].map((index) => [index, " there was"]),
      moderation: ["omni-moderation-latest", [true, false]],
      images: [b64_json, b64_json],
      imageUsage: expect.objectContaining({ input_tokens: 10, output_tokens: 100 }),
      edited: 1,
      transcript: [heardText, 9.5, 9.5],
      subtitles: `1\n00:00:00,000 --> 00:00:09,500\n${heardText}\n\n`,
      translation: heardText,
      speech: [spokenSound.length, "audio/mpeg"],
    });
    await every.checkBooks();
    expect(charges(every)).toEqual([
      ["chat/completions", everyCharge.chat],
      ["embeddings", 2 * everyCharge.embedding],
      ["completions", everyCharge.completion],
      ["moderations", everyCharge.moderation],
      ["images/generations", everyCharge.image],
      ["images/edits", everyCharge.edit],
      ["audio/transcriptions", everyCharge.transcript],
      ["audio/transcriptions", everyCharge.transcript],
      ["audio/translations", everyCharge.transcript],
      ["audio/speech", everyCharge.speech * "Hello there.".length],
    ]);
    const [edit, transcript] = every.server.requests.slice(5);
    expect(await namesOf(edit)).toEqual(["image[]=a.png", "image[]=b.png", "mask=m.png", "model", "prompt"]);
    expect(await namesOf(transcript)).toEqual([
      ...["file=talk.wav", "include[]", "model", "response_format"],
      ...["timestamp_granularities[]", "timestamp_granularities[]"],
    ]);
  });

  it("streams what can be streamed", async () => {
    const every = await startEvery();
    expect(await runPython("openai", every.baseURL, "streams")).toEqual({
      chat: "Hello world",
      usage: 12,
      images: ["image_generation.partial_image", "image_generation.completed"],
      edits: ["image_edit.partial_image", "image_edit.completed"],
      heard: ["transcript.text.delta", "transcript.text.delta", "transcript.text.done"],
      text: heardText,
      spoken: spokenSound.length,
    });
    await every.checkBooks();
    expect(charges(every).map(([, charge]) => charge)).toEqual([
      ...[everyCharge.chat, everyCharge.image, everyCharge.edit, everyCharge.transcript],
      everyCharge.speech * "Hello there.".length,
    ]);
  });

  it("uploads several files at once", async () => {
    const every = await startEvery();
    expect(await runPython("openai", every.baseURL, "many")).toEqual(Array(4).fill(heardText));
    const sizes = await Promise.all(
      every.server.requests.map(async (request) => {
        const file = (await formEntries(request)).at(-1)?.[1] as File;
        return [file.name, file.size];
      }),
    );
    expect(sizes.sort()).toEqual([0, 1, 2, 3].map((at) => [`${at}.wav`, 3016 + at * 300_000]));
    await every.checkBooks();
  });

  it("has errors that it understands, and whose member is named", async () => {
    const every = await startEvery();
    expect(await runPython("openai", every.baseURL, "errors")).toEqual({
      key: ["AuthenticationError", 401, "invalid_api_key", null],
      model: ["NotFoundError", 404, "model_not_found", "model"],
      type: ["BadRequestError", 400, "invalid_value", "model"],
      number: ["BadRequestError", 400, expect.any(String), "n"],
      empty: ["BadRequestError", 400, expect.any(String), "file"],
      voice: ["BadRequestError", 400, expect.any(String), "input"],
      batch: ["NotFoundError", 404, "unknown_url", null],
    });
    expect(every.server.requests).toHaveLength(0);
  });

  it("is told when its credits are spent, and when there are more", async () => {
    const plans = memoryPlanStore({ pro: { models: ["*"], credits: { session: 0.02 } } });
    const every = await startEvery({ plans });
    expect(await runPython("openai", every.baseURL, "spent")).toMatchObject({
      calls: 5,
      error: "RateLimitError",
      code: "session_limit_exceeded",
      retry: expect.toSatisfy((seconds: number) => seconds > 0),
    });
    await every.checkBooks();
  });

  it("lists the models, with what each of them makes", async () => {
    const every = await startEvery();
    const models = await runPython<unknown[]>("openai", every.baseURL, "models");
    expect(models).toEqual(expect.arrayContaining([["acme/hear", "acme/hear", ["transcription"]]]));
  });
});

async function namesOf(request: Parameters<typeof formEntries>[0] | undefined): Promise<string[]> {
  if (request === undefined) return [];
  const entries = await formEntries(request);
  return entries.map(([name, value]) => (typeof value === "string" ? name : `${name}=${value.name}`)).sort();
}
