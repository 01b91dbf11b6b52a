import { request as httpRequest } from "node:http";
import OpenAI, { toFile } from "openai";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import type { UpstreamCall } from "../../../../src/providers/upstream-provider.js";
import { createGate, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { type MediaOptions, startMedia } from "../../../support/media-server.js";
import { startTestGateway } from "../../../support/test-gateway.js";

afterAll(expectNoSockets);

const path = "audio/transcriptions";
const hear: Model = {
  id: "acme/hear",
  type: "transcription",
  maxAudioSeconds: 60,
  price: { audioMinute: 0.006 },
  upstream: { provider: "fake", model: "whisper-1" },
};
const heard = { text: "Hi.", usage: { type: "duration", seconds: 1 } };

const start = (options: Partial<MediaOptions> = {}) => startMedia({ models: [hear], operations: [path], ...options });

const head = [
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.ogg"\r\n\r\n',
  '\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nacme/hear\r\n--b--\r\n',
] as const;

/** Sends a form piece by piece, chunked. `wait` comes before the last one. */
function sendSlowly({ baseURL }: { baseURL: string }, pieces: readonly (string | Buffer)[], wait: () => Promise<void>) {
  const { hostname, port } = new URL(baseURL);
  const headers = { authorization: "Bearer sk-pro", "content-type": "multipart/form-data; boundary=b" };
  const sending = httpRequest({ hostname, port, path: `/v1/${path}`, method: "POST", headers });
  const status = new Promise<number>((resolve, reject) => {
    sending.once("response", (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    sending.once("error", reject);
  });
  status.catch(() => {});
  void (async () => {
    for (const piece of pieces.slice(0, -1)) sending.write(piece);
    await wait();
    sending.end(pieces.at(-1));
  })();
  return { status, sending };
}

function form(file = "sound"): FormData {
  const made = new FormData();
  made.set("model", "acme/hear");
  made.set("file", new Blob([file]), "a.ogg");
  return made;
}

const send = ({ baseURL }: { baseURL: string }, body: FormData) =>
  fetch(`${baseURL}/${path}`, { method: "POST", headers: { authorization: "Bearer sk-pro" }, body });

describe("an upload", () => {
  it("counts until its call has ended, whatever credits it holds", async () => {
    const size = 300_000;
    const started = await start({ maxBodyBytes: 1_000, maxUploadBytes: 400_000, maxPendingBodyBytes: 1_000_000 });
    const gate = createGate();
    started.server.reply(wholeAnswer(heard, { gate }));
    const first = send(started, form("a".repeat(size)));
    await vi.waitFor(() => expect(started.server.requests).toHaveLength(1));
    const second = await send(started, form("b".repeat(size)));
    expect(second.status).toBe(429);
    gate.open();
    expect((await first).status).toBe(200);
    await started.checkBooks();
    expect((await send(started, form("c".repeat(size)))).status).toBe(200);
  });

  it("that its client breaks off costs nothing", async () => {
    const started = await start();
    const ended = started.nextEvent();
    const { sending, status } = sendSlowly(started, [head[0], "sound", head[1]], () => new Promise(() => {}));
    await new Promise<void>((resolve) => sending.once("socket", (socket) => socket.once("connect", resolve)));
    await vi.waitFor(() => expect(started.attempts()).toBe(1));
    sending.destroy();
    await expect(status).rejects.toThrow();
    expect(await ended).toMatchObject({ status: 499, chargedMicro: 0 });
    expect(started.server.requests).toEqual([]);
  });

  it("whose client leaves once the server has it costs the audio", async () => {
    const started = await start();
    const gate = createGate();
    const leaving = new AbortController();
    started.server.reply(async (_request, response) => {
      leaving.abort();
      await gate.pass();
      response.destroy();
    });
    const ended = started.nextEvent();
    const client = new OpenAI({ baseURL: started.baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const file = await toFile(Buffer.from("sound"), "a.ogg");
    const left = client.audio.transcriptions.create({ file, model: "acme/hear" }, { signal: leaving.signal });
    await expect(left).rejects.toThrow();
    expect(await ended).toMatchObject({ endReason: "client_gone", chargedMicro: 6_000, usageSource: "partial" });
    gate.open();
  });

  it("that something else has read before the gateway is a 400 that says so", async () => {
    const started = await start();
    const response = await fetch(`${started.baseURL}/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "multipart/form-data; boundary=b" },
      body: "",
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "invalid_form", message: expect.stringContaining("mount the gateway before it") },
    });
  });
});

it("members that a hook sets are fields of the form, also where costs are shown", async () => {
  const started = await start({
    exposeCost: true,
    onRequest: () => ({ upstream: { set: { temperature: 0.5 } } }),
  });
  started.server.reply(wholeAnswer(heard));
  expect((await send(started, form())).status).toBe(200);
  const { body, headers } = started.server.lastRequest;
  const read = await new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
  expect([...read.keys(), read.getAll("temperature")]).toEqual([
    "temperature",
    "response_format",
    "model",
    "file",
    ["0.5"],
  ]);
});

it("a provider of a host's own gets the form, its type, and what is to come", async () => {
  const calls: { contentType: string | undefined; expects: string | undefined; fields: unknown[] }[] = [];
  const test = await startTestGateway({
    models: [{ ...hear, upstream: { provider: "own", model: "own-1" } }],
    providers: {
      own: {
        operations: [path],
        call: async (call: UpstreamCall) => {
          const { contentType, expects, body } = { ...call };
          const read = await new Response(body, { headers: { "content-type": contentType ?? "" } }).formData();
          calls.push({ contentType, expects, fields: [...read.keys(), read.get("model"), read.get("temperature")] });
          const answer = Buffer.from(JSON.stringify(heard));
          return { status: 200, headers: { "content-type": "application/json" }, body: one(answer) };
        },
      },
    },
    onRequest: () => ({ upstream: { set: { temperature: 0.5 } } }),
  });
  try {
    const body = form();
    const headers = { authorization: "Bearer sk-pro" };
    const request = new Request(`http://gateway.test/v1/${path}`, { method: "POST", headers, body });
    expect(await (await test.gateway.handler(request)).json()).toEqual(heard);
    expect(calls).toEqual([
      {
        contentType: expect.stringMatching(/^multipart\/form-data; boundary=infergate-/),
        expects: "document",
        fields: ["temperature", "response_format", "model", "file", "own-1", "0.5"],
      },
    ]);
    const inProcess = test.gateway.as({ account: "acct_pro", plan: "pro" });
    const again = await inProcess.fetch(`${inProcess.baseURL}/${path}`, { method: "POST", body: form() });
    expect(await again.json()).toEqual(heard);
  } finally {
    await test.close();
  }
});

async function* one(piece: Uint8Array) {
  yield piece;
}
