import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import type { UpstreamProvider } from "../../../../src/providers/upstream-provider.js";
import { errorBody, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { startMedia } from "../../../support/media-server.js";
import { hear, heard, path } from "./hearing.js";

afterAll(expectNoSockets);

const target = (provider: string) => ({ provider, model: `model of ${provider}` });
const sound = Buffer.alloc(8 * 1024 * 1024, "a sound, ");

function upload(): FormData {
  const form = new FormData();
  form.set("file", new Blob([sound], { type: "audio/ogg" }), "a.ogg");
  form.set("language", "de");
  form.set("model", "acme/hear");
  return form;
}

const send = ({ baseURL }: { baseURL: string }) =>
  fetch(`${baseURL}/${path}`, { method: "POST", headers: { authorization: "Bearer sk-pro" }, body: upload() });

/** A server below HTTP. @param take - of bytes that have come. @returns the provider of it. */
async function startRaw(take: (socket: Socket, length: number) => void): Promise<UpstreamProvider> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)).on("error", () => {}));
    socket.on("data", (piece) => take(socket, piece.length));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return openAICompatible({ baseURL: `http://127.0.0.1:${port}/v1`, operations: [path] });
}

/** What a server got, its boundary and model aside. */
async function received({ body, headers }: { body: Buffer; headers: { "content-type"?: string | undefined } }) {
  const type = headers["content-type"] ?? "";
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const file = form.get("file") as File;
  const isSame = Buffer.from(await file.arrayBuffer()).equals(sound);
  const boundary = type.slice(type.indexOf("=") + 1);
  const rest = body
    .toString("latin1")
    .replaceAll(boundary, "")
    .replace(/model of \w+/, "");
  return { model: form.get("model"), language: form.get("language"), file: [file.name, file.type, isSame], rest };
}

it("a form goes to the next target with the same bytes, under that one's model, and is charged once", async () => {
  const started = await startMedia({
    models: [{ ...hear, upstream: [target("fake"), target("other")] }],
    operations: [path],
  });
  started.server.reply(wholeAnswer(errorBody("overloaded"), { status: 503 }));
  started.other.reply(wholeAnswer(heard));
  const ended = started.nextEvent();
  const response = await send(started);
  expect([response.status, await response.json()]).toEqual([200, expect.objectContaining(heard)]);
  const [first, second] = [await received(started.server.lastRequest), await received(started.other.lastRequest)];
  expect(first).toMatchObject({ model: "model of fake", language: "de", file: ["a.ogg", "audio/ogg", true] });
  expect(second).toEqual({ ...first, model: "model of other" });
  expect(await ended).toMatchObject({
    chargedMicro: 100,
    attempts: [{ error: expect.any(String) }, { outcome: "completed" }],
  });
  await started.checkBooks();
});

it("a target that resets in the middle of the upload gives way to the next one, which gets all of it", async () => {
  let taken = 0;
  const broken = await startRaw((socket, length) => {
    taken += length;
    if (taken > 1024 * 1024) socket.resetAndDestroy();
  });
  const started = await startMedia({
    models: [{ ...hear, upstream: [target("broken"), target("other")] }],
    operations: [path],
    moreProviders: { broken },
  });
  started.other.reply(wholeAnswer(heard));
  const ended = started.nextEvent();
  const response = await send(started);
  expect([response.status, await response.json()]).toEqual([200, expect.objectContaining(heard)]);
  expect(taken).toBeLessThan(sound.length);
  expect(await received(started.other.lastRequest)).toMatchObject({
    ...{ model: "model of other", language: "de", file: ["a.ogg", "audio/ogg", true] },
  });
  expect(started.other.requests).toHaveLength(1);
  expect(await ended).toMatchObject({
    chargedMicro: 100,
    attempts: [{ error: expect.any(String) }, { outcome: "completed" }],
  });
  await started.checkBooks();
});

it.each([
  [413, "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 0\r\n\r\n"],
  [200, `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"text":"Hi"}`],
])("a target that says %d in the middle of the upload, and reads no more, holds nothing up", async (status, said) => {
  let hasSaid = false;
  const hasty = await startRaw((socket) => {
    if (hasSaid) return;
    hasSaid = true;
    socket.pause();
    socket.write(said);
  });
  const started = await startMedia({
    models: [{ ...hear, upstream: target("hasty") }],
    operations: [path],
    moreProviders: { hasty },
  });
  const ended = started.nextEvent();
  const response = await send(started);
  await response.arrayBuffer();
  expect([response.status === 200, (await ended).attempts]).toEqual([
    status === 200,
    [expect.objectContaining({ status })],
  ]);
  await started.checkBooks();
});
