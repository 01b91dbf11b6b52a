import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { wholeAnswer } from "../../../../src/testing.js";
import { openRaw } from "../../../support/adapters/raw-connection.js";
import { everyCharge, startEvery } from "../../../support/every-operation.js";
import { formEntries, heardText, madeImage, spokenSound } from "../../../support/honest-server.js";
import { ranked, scores, shapes, startRerank } from "../../../support/rerank-samples.js";
import { expectNoSockets } from "../start-server.js";

afterAll(expectNoSockets);

/**
 * What Open WebUI 0.12.4 sends, byte for byte, in lines: its functions were run with the versions of aiohttp and requests that it
 * names, against a socket.
 */
const recorded: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL("requests.json", import.meta.url), "utf8"),
);

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly json: any;
}

async function send({ baseURL }: { baseURL: string }, name: string): Promise<Answer> {
  const { origin, host } = new URL(baseURL);
  const connection = await openRaw(origin);
  try {
    connection.send((recorded[name] ?? []).join("").replace("{host}", host));
    const received = await connection.until(isWhole);
    const [head = "", ...rest] = received.split("\r\n\r\n");
    const isChunked = /^transfer-encoding: chunked/im.test(head);
    const text = rest.join("\r\n\r\n");
    const body = Buffer.from(isChunked ? joinChunks(text) : text, "latin1");
    return {
      status: Number(head.slice(9, 12)),
      type: /^content-type: (.*)$/im.exec(head)?.[1],
      body,
      get json() {
        return JSON.parse(body.toString());
      },
    };
  } finally {
    connection.socket.destroy();
  }
}

function isWhole(received: string): boolean {
  const start = received.indexOf("\r\n\r\n") + 4;
  if (start < 4) return false;
  const length = /^content-length: (\d+)/im.exec(received.slice(0, start))?.[1];
  return length === undefined ? received.endsWith("\r\n0\r\n\r\n") : received.length - start >= Number(length);
}

function joinChunks(text: string): string {
  let joined = "";
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(length > 0)) return joined;
    joined += text.slice(lineEnd + 2, lineEnd + 2 + length);
    at = lineEnd + 2 + length + 2;
  }
}

describe("Open WebUI", () => {
  it("has its recordings transcribed, which it sends in chunks", async () => {
    const every = await startEvery();
    const { status, json } = await send(every, "transcription");
    expect({ status, text: json.text }).toEqual({ status: 200, text: heardText });
    const entries = await formEntries(every.server.lastRequest);
    expect(entries.map(([name, value]) => [name, typeof value === "string" ? value : value.name])).toEqual([
      // The format whose responses say how long the recording was.
      ["response_format", "verbose_json"],
      ["model", "whisper-1"],
      ["language", "en"],
      ["file", "recording.wav"],
    ]);
    const file = entries[3]?.[1] as File;
    expect([file.size, Buffer.from(await file.arrayBuffer()).toString("latin1", 0, 4)]).toEqual([844, "RIFF"]);
    await every.checkBooks();
    expect(every.events[0]).toMatchObject({ chargedMicro: everyCharge.transcript, usageSource: "provider" });
  });

  it("is told that a recording comes in a form, where it sends JSON", async () => {
    const every = await startEvery();
    const { status, json } = await send(every, "transcription as JSON");
    expect({ status, code: json.error.code }).toEqual({ status: 415, code: "unsupported_content_type" });
    expect(json.error.message).toContain("multipart/form-data");
    expect(every.server.requests).toHaveLength(0);
    await every.checkBooks();
  });

  it("reads a message aloud, by the type of the response", async () => {
    const every = await startEvery();
    const { status, type, body } = await send(every, "speech");
    expect({ status, type }).toEqual({ status: 200, type: "audio/mpeg" });
    expect(body.equals(spokenSound)).toBe(true);
    await every.checkBooks();
    expect(every.events[0]).toMatchObject({ chargedMicro: everyCharge.speech * "Hello there.".length });
  });

  it.each([
    ["gpt-image-1, which refuses `response_format`", "gpt-image-1", undefined],
    ["a server that knows it", "paint", "b64_json"],
  ])("draws with %s", async (_name, model, sent) => {
    const every = await startEvery({
      models: [{ id: "acme/image", type: "image", price: { request: 1 }, upstream: { provider: "fake", model } }],
      dialect: { imageFormat: sent === undefined ? "none" : "b64_json" },
    });
    const { status, json } = await send(every, "image");
    expect({ status, data: json.data }).toEqual({ status: 200, data: [{ b64_json: madeImage.toString("base64") }] });
    expect(every.server.lastRequest.json).toEqual({
      ...{ model, prompt: "A hat", n: 1, size: "512x512" },
      ...(sent !== undefined && { response_format: sent }),
    });
    await every.checkBooks();
  });

  it.each([
    ["edit of one image", ["image"]],
    ["edit of two images", ["image[]", "image[]"]],
  ])("has an %s", async (name, files) => {
    const every = await startEvery({ dialect: { imageFormat: "none" } });
    const { status, json } = await send(every, name);
    expect({ status, images: json.data.length }).toEqual({ status: 200, images: 1 });
    const entries = await formEntries(every.server.lastRequest);
    expect(entries.filter(([, value]) => typeof value !== "string").map(([field]) => field)).toEqual(files);
    expect(Object.fromEntries(entries.filter(([, value]) => typeof value === "string"))).toEqual({
      ...{ model: "gpt-image-1", prompt: "A hat", n: "1", size: "1024x1024" },
    });
    await every.checkBooks();
    expect(every.events[0]).toMatchObject({ chargedMicro: everyCharge.edit });
  });

  it.each(Object.entries(shapes))("has a score of every document, where the server is %s", async (_name, shape) => {
    const { answer, dialect } = shape;
    const started = await startRerank({}, dialect === undefined ? {} : { rerank: dialect });
    started.model.reply(wholeAnswer(Buffer.from(JSON.stringify(answer))));
    const { json } = await send(started, "ranking");
    const results: { index: number; relevance_score: number }[] = json.results;
    expect(results.map(({ index }) => index)).toEqual(ranked);
    // As it reads them.
    const inOrder = results.sort((one, other) => one.index - other.index).map((result) => result.relevance_score);
    expect(inOrder).toEqual(scores);
  });
});
