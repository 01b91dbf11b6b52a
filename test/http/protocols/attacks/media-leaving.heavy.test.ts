import { afterAll, describe, expect, it, vi } from "vitest";
import { createGate, type FakeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { costOfEntry } from "../../../support/journal-price.js";
import { modelFor, startOperation } from "./any-operation.js";
import { mediaCalls } from "./media-calls.js";

afterAll(expectNoSockets);

type Name = (typeof mediaCalls)[number][0];

/** What has come of an answer when its client leaves. */
function beginOf(name: Name, stream: boolean): string {
  if (!stream) return '{"results":[';
  if (name === "audio/speech") return 'data: {"type":"speech.audio.delta","audio":"AAAA"}\n\n';
  if (name.startsWith("audio/")) return 'data: {"type":"transcript.text.delta","delta":"Hi"}\n\n';
  if (name === "completions") return 'data: {"id":"a","choices":[{"index":0,"text":"Hi"}]}\n\n';
  const kind = name === "images/edits" ? "image_edit" : "image_generation";
  return `data: {"type":"${kind}.partial_image","b64_json":"YQ=="}\n\n`;
}

const moments = ["before there is a response", "behind its head", "within it"] as const;

async function readSome({ body }: Response): Promise<void> {
  const reader = body?.getReader();
  reader?.closed.catch(() => {});
  await reader?.read();
}

describe.each(mediaCalls)("%s (streamed: %s) at %o", (name, stream, price) => {
  it.each(moments)("costs a client that leaves %s, within what is held", async (moment) => {
    const models = [{ ...modelFor(name, price), disconnect: "cancel" as const }];
    const { server, gateway, nextEvent, send, checkBooks } = await startOperation(name, price, { models });
    const gate = createGate();
    const answer: FakeAnswer = async (_request, response) => {
      if (moment !== moments[0]) {
        response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
        response.flushHeaders();
      }
      if (moment === moments[2]) response.write(beginOf(name, stream));
      await gate.pass();
      response.end();
    };
    server.reply(answer);
    const ended = nextEvent();
    const leaving = new AbortController();
    const sent = send(stream, {}, leaving.signal);
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    if (moment === moments[2] && stream) await readSome(await sent);
    leaving.abort();
    await sent.catch(() => {});
    const { chargedMicro, heldMicro } = await ended;
    gate.open();
    const [entry] = (await gateway.accounts.history("acct_pro", { kinds: ["charge"], limit: 1 })).entries;
    // Only output costs anything, and none has come.
    const isOfOutput = ["output", "outputAudio"].includes(Object.keys(price).join());
    const isFree = name === "audio/speech" && isOfOutput && moment !== moments[2];
    expect(chargedMicro > 0).toBe(!isFree);
    expect(chargedMicro).toBeLessThanOrEqual(heldMicro ?? 0);
    if (!isFree) expect(costOfEntry(entry?.tags ?? {})).toBe(chargedMicro);
    await checkBooks();
  });
});
