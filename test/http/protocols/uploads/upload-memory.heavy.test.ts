import { afterAll, expect, it, onTestFinished } from "vitest";
import { ArrivingBody } from "../../../../src/http/request-body.js";
import { transcriptionForm } from "../../../../src/protocols/audio/transcription-request.js";
import { FormBody, readFormRequest } from "../../../../src/protocols/shared/form-request.js";
import { createGate, eventStream, type Gate } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { collectGarbage } from "../../../support/collect-garbage.js";
import { startMedia } from "../../../support/media-server.js";
import { hear, heardEvents, path } from "./hearing.js";

afterAll(expectNoSockets);

const mebibyte = 1024 * 1024;
const type = "multipart/form-data; boundary=b";
const opening = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.ogg"\r\n\r\n';
const ending = '\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nacme/hear\r\n--b--\r\n';

it("a form that came in pieces is sent as it came: nothing of its file is copied", async () => {
  const chunks = Array.from({ length: 25 }, (_, index) => Buffer.alloc(mebibyte, `${index}, `));
  const body = new ArrivingBody(
    { maxBytes: 32 * mebibyte, timeoutMs: 30_000, minBytesPerSecond: 0, arrived: () => undefined },
    (error) => expect.unreachable(error.message),
  );
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (const piece of [Buffer.from(opening), ...chunks, Buffer.from(ending)]) body.take(piece);
  const pieces = body.endInPieces() ?? [];
  const form = new FormBody(await readFormRequest(pieces, type, transcriptionForm), new Map());
  const sent = form.pieces;
  // Before any of it could be collected.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(mebibyte);
  const shared = sent.filter(({ buffer }) => chunks.some((chunk) => chunk.buffer === buffer));
  expect(shared.reduce((sum, { length }) => sum + length, 0)).toBe(25 * mebibyte);
  expect(Buffer.compare(Buffer.concat(shared), Buffer.concat(chunks))).toBe(0);
});

it("a form is no longer there, and no longer counts, once its response has begun", async () => {
  const size = 20 * mebibyte;
  const started = await startMedia({
    models: [hear],
    operations: [path],
    maxPendingBodyBytes: 32 * mebibyte,
    maxUploadBytes: 24 * mebibyte,
  });
  const gates = [createGate(), createGate()];
  onTestFinished(() => {
    for (const gate of gates) gate.open();
  });
  const kept: WeakRef<ArrayBufferLike>[] = [];
  const call = async (gate: Gate) => {
    gate.step(2);
    started.server.replyOnce(eventStream(heardEvents, { gate }));
    const parts = function* () {
      yield Buffer.from(opening);
      for (let sent = 0; sent < size; sent += mebibyte) {
        const chunk = new Uint8Array(mebibyte).fill(65);
        kept.push(new WeakRef(chunk.buffer));
        yield chunk;
      }
      yield Buffer.from(
        ending.replace("\r\n--b--", '\r\n--b\r\nContent-Disposition: form-data; name="stream"\r\n\r\ntrue\r\n--b--'),
      );
    };
    const request = new Request(`http://gateway.test/v1/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": type },
      body: ReadableStream.from(parts()),
      duplex: "half",
    } as RequestInit);
    const response = await started.gateway.handler(request);
    expect(response.status).toBe(200);
    return response.body?.getReader();
  };
  const [one, other] = gates as [Gate, Gate];
  const first = await call(one);
  expect(new TextDecoder().decode((await first?.read())?.value)).toContain("Hi ");
  await expect
    .poll(() => {
      collectGarbage();
      return kept.filter((buffer) => buffer.deref() !== undefined).length;
    })
    .toBe(0);
  // As large again: with the first one, it would find no room.
  const second = await call(other);
  for (const gate of gates) gate.open();
  for (const reader of [first, second]) while (!(await reader?.read())?.done);
});
