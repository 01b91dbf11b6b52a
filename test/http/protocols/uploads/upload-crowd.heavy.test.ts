import { spawn } from "node:child_process";
import { once } from "node:events";
import { type ClientRequest, createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import OpenAI, { toFile } from "openai";
import { expect, it, onTestFinished, vi } from "vitest";
import { createGate } from "../../../../src/testing.js";
import { bundled } from "../../../support/bundled.js";
import type { MemoryReport } from "./fixtures/upload-gateway.js";
import { heard, path } from "./hearing.js";

const script = fileURLToPath(new URL("fixtures/upload-gateway.ts", import.meta.url));
const mebibyte = 1024 * 1024;
const size = 25 * mebibyte;
const accounts = 10;
const uploads = 40;
const first = 8;
/** By default: of all uploads together, and of those of an account. */
const most = Math.floor((256 * mebibyte) / size);
const mostOfAccount = Math.floor((64 * mebibyte) / size);

const chunk = Buffer.alloc(64 * 1024, "a sound, ");
const opening = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.ogg"\r\n\r\n';
const ending = '\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nacme/hear\r\n--b--\r\n';

/** A server that takes each form at once, and has an answer when the gate opens. It keeps nothing. */
async function startSlowServer() {
  const gate = createGate();
  const seen = { forms: 0, lengths: new Set<number>() };
  const server = createServer((req, res) => {
    let length = 0;
    req.on("data", (piece: Buffer) => {
      length += piece.length;
    });
    req.once("end", async () => {
      seen.forms++;
      seen.lengths.add(length);
      await gate.pass();
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify(heard));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    gate.open();
    server.closeAllConnections();
    server.close();
  });
  return { gate, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

async function startGateway(upstream: string) {
  const child = spawn(process.execPath, [await bundled(script), upstream, String(accounts)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? "{}");
  const { port } = (await next()) as { port: number };
  return {
    port,
    report: async (): Promise<MemoryReport> => {
      child.stdin.write("\n");
      return await next();
    },
  };
}

function drained(sending: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      sending.off("drain", done).off("close", done);
      resolve();
    };
    sending.on("drain", done).on("close", done);
  });
}

/** A form in chunks, without a length. @returns the status. */
function sendChunked(port: number, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "multipart/form-data; boundary=b" };
  const sending = httpRequest({ host: "127.0.0.1", port, path: `/v1/${path}`, method: "POST", headers });
  return new Promise((resolve, reject) => {
    sending.once("response", (response: IncomingMessage) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    // A refusal closes the connection while more is on its way.
    sending.once("error", reject);
    void (async () => {
      sending.write(opening);
      for (let sent = 0; sent < size && !sending.destroyed; sent += chunk.length) {
        if (!sending.write(chunk)) await drained(sending);
      }
      sending.end(ending);
    })();
  });
}

it("forty uploads of 25 MiB at once take no more memory than is allowed, and none once they have ended", async () => {
  const { gate, seen, url } = await startSlowServer();
  const { port, report } = await startGateway(url);
  const file = await toFile(Buffer.alloc(size, chunk), "a.ogg");
  const openAI = async (key: string): Promise<number> => {
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: key, maxRetries: 0 });
    const sent = client.audio.transcriptions.create({ file, model: "acme/hear" });
    return await sent.then(
      () => 200,
      (error) => error.status ?? 0,
    );
  };
  const send = (at: number) => {
    const key = `sk-${at % accounts}`;
    return at % 2 === 0 ? openAI(key) : sendChunked(port, key).catch(() => 0);
  };

  const before = await report();
  const statuses: number[] = [];
  const all: Promise<void>[] = [];
  // Some are with the server, and hold credits, when the others come.
  for (const count of [first, uploads - first]) {
    for (let sent = 0; sent < count; sent++) all.push(send(all.length).then((status) => void statuses.push(status)));
    // Nothing is answered yet: who is not refused has a place.
    await vi.waitFor(() => expect(statuses.length + seen.forms).toBe(all.length), { timeout: 120_000, interval: 50 });
  }
  const waiting = seen.forms;
  const full = await report();
  expect(waiting).toBeGreaterThanOrEqual(first);
  expect(waiting).toBeLessThanOrEqual(most);
  expect(statuses.filter((status) => ![429, 503, 0].includes(status))).toEqual([]);
  expect(statuses).toContain(503);
  // Each is there once, and what sockets have read of others.
  expect(full.buffers - before.buffers).toBeLessThan((waiting + 1) * size);
  expect(full.mostBuffers - before.buffers).toBeLessThan(256 * mebibyte + uploads * 4 * mebibyte);

  gate.open();
  await Promise.all(all);
  expect(statuses.filter((status) => status === 200)).toHaveLength(waiting);
  const expectNothingLeft = () =>
    vi.waitFor(
      async () => {
        const { buffers, heap } = await report();
        expect(buffers - before.buffers).toBeLessThan(2 * mebibyte);
        expect(heap - before.heap).toBeLessThan(16 * mebibyte);
      },
      { timeout: 20_000, interval: 100 },
    );
  await expectNothingLeft();
  // Of one account, and again where there is room: no place was lost.
  for (let round = 0; round < 3; round++) {
    const some = await Promise.all(Array.from({ length: mostOfAccount }, () => sendChunked(port, "sk-1")));
    expect(some).toEqual(some.map(() => 200));
  }
  await expectNothingLeft();
  // It takes some tens; of all threads, garbage collection among them, and on any machine.
  expect((await report()).longestTurn).toBeLessThan(250);
}, 300_000);
