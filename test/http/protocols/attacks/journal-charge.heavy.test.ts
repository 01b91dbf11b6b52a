import { afterAll, describe, expect, it } from "vitest";
import type { OperationName } from "../../../../src/prices/operation-name.js";
import type { Price } from "../../../../src/prices/price.js";
import { wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { costOfEntry } from "../../../support/journal-price.js";
import { modelFor, startOperation } from "./any-operation.js";
import { answerOf, mediaCalls, usageOf } from "./media-calls.js";

afterAll(expectNoSockets);

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

describe.each(mediaCalls)("%s (streamed: %s) at %o", (name, stream, price) => {
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

it("of text is in the journal as ever", async () => {
  const { send, server, gateway } = await startOperation("chat/completions", { input: 1, output: 2 });
  server.reply(wholeAnswer());
  await (await send(false)).text();
  const [entry] = (await gateway.accounts.history("acct_pro", { kinds: ["charge"], limit: 1 })).entries;
  expect(JSON.stringify(entry?.tags)).toBe(
    '{"keyId":"key_pro","model":"acme/model","plan":"pro","input":9,"cachedInput":0,"output":3,"reasoning":0,' +
      '"source":"provider","price":"1/1/2/2/0","target":"fake/gpt-image-1"}',
  );
});
