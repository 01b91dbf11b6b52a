import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { readNodeBody } from "../../src/adapters/node-read-body.js";
import { openRaw } from "./raw-connection.js";

const limits = { maxBytes: 1_000_000, timeoutMs: 5_000 };
const head = (length: number) => ["POST / HTTP/1.1", "host: a", `content-length: ${length}`, "", ""].join("\r\n");
const read = (req: IncomingMessage) => readNodeBody(req, Number(req.headers["content-length"]), limits);

/** A server that answers with what it has read of the body, and a connection to it. */
async function open(handle: (req: IncomingMessage, res: ServerResponse) => Promise<unknown>) {
  const server = createServer((req, res) => {
    handle(req, res).then(
      (said) => res.end(String(said)),
      (error: Error) => res.end(`failed: ${error.message}`),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

it("takes a body that has come with its headers without a listener, and the connection goes on", async () => {
  const listeners: number[] = [];
  const ended: Promise<unknown>[] = [];
  const connection = await open(async (req) => {
    // As logging middleware has it.
    ended.push(new Promise((resolve) => req.on("end", resolve)));
    const reading = read(req);
    await undefined;
    await undefined;
    listeners.push(req.listenerCount("data"), req.listenerCount("close"));
    return await reading;
  });
  for (const text of ["größer", "second"]) {
    const body = Buffer.from(text);
    connection.send(`${head(body.length)}${body.toString("latin1")}`);
    const answer = await connection.until(`\r\n\r\n${body.toString("latin1")}`);
    expect(answer).toContain("200 OK");
  }
  expect(listeners).toEqual([0, 0, 0, 0]);
  await Promise.all(ended);
});

it.each([
  ["comes after its headers", async () => {}],
  ["is paused by middleware", async (req: IncomingMessage) => void req.pause()],
  ["is decoded by middleware", async (req: IncomingMessage) => void req.setEncoding("utf8")],
  ["is waited for by middleware", async () => new Promise((resolve) => setImmediate(resolve))],
])("reads a body that %s", async (_name, prepare) => {
  const connection = await open(async (req) => {
    await prepare(req);
    return read(req);
  });
  const body = Buffer.from("größer");
  if (_name === "comes after its headers") {
    connection.send(head(body.length));
    await new Promise((resolve) => setImmediate(resolve));
    connection.send(body.toString("latin1"));
  } else connection.send(`${head(body.length)}${body.toString("latin1")}`);
  expect(await connection.until(`\r\n\r\n${body.toString("latin1")}`)).toContain("200 OK");
});

it("does not take the beginning of a body for all of it", async () => {
  const connection = await open(read);
  connection.send(`${head(10)}01234`);
  await new Promise((resolve) => setImmediate(resolve));
  connection.send("56789");
  expect(await connection.until("\r\n\r\n0123456789")).toContain("200 OK");
});

it("reads what has no length, and what has none of it", async () => {
  const connection = await open(read);
  connection.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  await connection.until("\r\n\r\nabc");
  connection.send(head(0));
  expect(await connection.until(/content-length: 0\r\n/i)).toContain("200 OK");
});
