import { afterAll, describe, expect, it } from "vitest";
import type { OperationName } from "../../../src/metering/operation-name.js";
import type { Price } from "../../../src/metering/prices/price.js";
import { operations } from "../../../src/operations/table.js";
import { eventStream, type FakeAnswer, wholeAnswer } from "../../../src/testing.js";
import { expectNoSockets } from "../../clients/start-server.js";
import { textChunks, textCompletion } from "../../support/completion-samples.js";
import { costOfEntry } from "../../support/journal-price.js";
import { modelFor, pricesOf, startOperation, streamedOperations } from "./any-operation.js";

afterAll(expectNoSockets);

const names = [
  ...(["completions", "moderations", "rerank", "images/generations", "images/edits"] as const),
  ...(["audio/speech", "audio/transcriptions", "audio/translations"] as const),
];

/** What a server may say of what it has used, in all words at once. */
function usageOf(value: unknown): Record<string, unknown> {
  const counts = ["input_tokens", "output_tokens", "prompt_tokens", "completion_tokens", "total_tokens", "seconds"];
  const details = { text_tokens: value, image_tokens: value, audio_tokens: value, cached_tokens: value };
  return {
    ...Object.fromEntries(counts.map((name) => [name, value])),
    ...{ input_tokens_details: details, input_token_details: details, output_tokens_details: details },
  };
}

const reports: readonly [name: string, usage: unknown][] = [
  ["nothing", undefined],
  ["null", null],
  ["a text", "much"],
  ["nothing of it", {}],
  ["zeros", usageOf(0)],
  ["less than nothing", usageOf(-5)],
  ["texts", usageOf("5")],
  ["fractions", usageOf(0.5)],
  ["more than there is", usageOf(1e300)],
  ["little", usageOf(1)],
];

function answerOf(name: OperationName, stream: boolean, usage: unknown): FakeAnswer {
  const events = (list: readonly object[]) => eventStream(list, { done: false });
  switch (name) {
    case "completions":
      return stream
        ? eventStream(textChunks(["Hi"], usage as null))
        : wholeAnswer(textCompletion(["Hi"], usage as null));
    case "moderations":
      return wholeAnswer({ results: [{ flagged: false, categories: {}, category_scores: {} }], usage });
    case "rerank": {
      const units = (usage as { seconds?: unknown } | undefined)?.seconds;
      return wholeAnswer({
        results: [{ index: 0, relevance_score: 1 }],
        usage,
        meta: { billed_units: { search_units: units } },
      });
    }
    case "images/generations":
    case "images/edits": {
      const type = name === "images/edits" ? "image_edit.completed" : "image_generation.completed";
      const made = { quality: "high", size: "1024x1024", usage };
      return stream
        ? events([{ type, b64_json: "YQ==", ...made }])
        : wholeAnswer({ data: [{ b64_json: "YQ==" }], ...made });
    }
    case "audio/speech":
      return events([
        { type: "speech.audio.delta", audio: "AAAA" },
        { type: "speech.audio.done", usage },
      ]);
    default:
      return stream
        ? events([
            { type: "transcript.text.delta", delta: "Hi" },
            { type: "transcript.text.done", text: "Hi", usage },
          ])
        : wholeAnswer({ text: "Hi", usage });
  }
}

/** Every kind of price, and one for all that an operation counts. */
function allPrices(name: OperationName): readonly Price[] {
  const terms = operations.find((each) => each.name === name)?.priced.known ?? [];
  const rows = [{ quality: "high", credits: 0.017 }, { size: "512x512", credits: 0.013 }, { credits: 0.019 }];
  const all = Object.fromEntries(terms.map((term, place) => [term, term === "images" ? rows : 0.37 + place / 1000]));
  return [...pricesOf(name), all];
}

const calls = names.flatMap((name) =>
  [false, true]
    .filter((stream) => (stream ? streamedOperations.has(name) : name !== "audio/speech"))
    .flatMap((stream) => allPrices(name).map((price): [OperationName, boolean, Price] => [name, stream, price])),
);

describe.each(calls)("%s (streamed: %s) at %o", (name, stream, price) => {
  it("is charged by what the journal says, is never free, and is within what is held, whatever its server reports", async () => {
    const { send, server, gateway, nextEvent, checkBooks } = await startOperation(name, price);
    for (const [report, usage] of reports) {
      server.reply(answerOf(name, stream, usage));
      const ended = nextEvent();
      const response = await send(stream);
      await response.arrayBuffer();
      const { chargedMicro, heldMicro } = await ended;
      const [entry] = (await gateway.accounts.history("acct_pro", { kinds: ["charge"], limit: 1 })).entries;
      expect({ report, status: response.status, charged: entry?.amountMicro }).toEqual({
        ...{ report, status: 200, charged: chargedMicro },
      });
      expect({ report, cost: costOfEntry(entry?.tags ?? {}) }).toEqual({ report, cost: chargedMicro });
      expect({ report, isFree: chargedMicro === 0 }).toEqual({ report, isFree: false });
      expect({ report, isAbove: chargedMicro > (heldMicro ?? 0) }).toEqual({ report, isAbove: false });
    }
    await checkBooks();
  });
});

it("holds what the dearest target can cost, whatever each of them counts", async () => {
  const mixes: readonly [OperationName, readonly Price[]][] = [
    ["images/generations", [{ images: [{ credits: 0.1 }] }, { outputImage: 40 }, { request: 0.2 }]],
    ["audio/transcriptions", [{ audioMinute: 0.006 }, { inputAudio: 60, output: 10 }, { request: 0.001 }]],
    ["audio/speech", [{ characters: 15 }, { outputAudio: 12 }, { request: 0.001 }]],
    ["rerank", [{ searches: 2 }, { input: 5 }, { request: 0.1 }]],
  ];
  for (const [name, prices] of mixes) {
    const held: number[] = [];
    const stream = name === "audio/speech";
    for (const mix of [...prices.map((price) => [price]), prices]) {
      const model = modelFor(name, mix[0] ?? {});
      const upstream = mix.map((price) => ({ provider: "fake", model: "gpt-image-1", price }));
      const { send, server, nextEvent } = await startOperation(name, {}, { models: [{ ...model, upstream }] });
      server.reply(answerOf(name, stream, undefined));
      const ended = nextEvent();
      await (await send(stream)).arrayBuffer();
      held.push((await ended).heldMicro ?? 0);
    }
    expect({ name, held: held.pop() }).toEqual({ name, held: Math.max(...held) });
  }
});
