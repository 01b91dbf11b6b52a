import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { type NodeClient, type NodeIncoming, NodeRequest, readNodeBody } from "../../../src/adapters/node-request.js";
import { inOnePiece } from "../../../src/http/request-body.js";
import { openRaw } from "../../support/adapters/raw-connection.js";

const limits = { maxBytes: 1_000_000, timeoutMs: 5_000, minBytesPerSecond: 0, arrived: () => undefined };
const head = (length: number) => ["POST / HTTP/1.1", "host: a", `content-length: ${length}`, "", ""].join("\r\n");
const read = (req: IncomingMessage) => readNodeBody(req, Number(req.headers["content-length"]), limits, inOnePiece);

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

it("reads a body that comes after its headers", async () => {
  const connection = await open(read);
  connection.send(head(5));
  await new Promise((resolve) => setImmediate(resolve));
  connection.send("plain");
  expect(await connection.until("\r\n\r\nplain")).toContain("200 OK");
});

it.each([
  ["paused by middleware", async (req: IncomingMessage) => void req.pause()],
  ["decoded by middleware", async (req: IncomingMessage) => void req.setEncoding("utf8")],
  ["kept waiting by middleware", () => new Promise((resolve) => setImmediate(resolve))],
])("reads a body that is %s", async (_name, prepare) => {
  const connection = await open(async (req) => {
    await prepare(req);
    const body = await read(req);
    return body instanceof Uint8Array ? body : "not bytes";
  });
  connection.send(`${head(5)}plain`);
  expect(await connection.until("\r\n\r\n")).toMatch(/\r\n\r\nplain$/);
});

it("does not take the length of a request for that of what middleware has made of it", async () => {
  const payload = new Readable({ read() {} });
  const req = { method: "POST", headers: { "content-length": "5" }, rawHeaders: [] } as unknown as NodeIncoming;
  const request = new NodeRequest({ req }, {} as NodeClient, "/", payload);
  payload.push("infla");
  const reading = request.body(limits);
  await new Promise((resolve) => setImmediate(resolve));
  payload.push("ted");
  payload.push(null);
  expect(Buffer.from(await reading).toString()).toBe("inflated");
});

it("does not believe a length beside chunks, which a lenient parser lets through", async () => {
  const req = Object.assign(new Readable({ read() {} }), {
    ...{ method: "POST", rawHeaders: [] },
    headers: { "content-length": "5", "transfer-encoding": "chunked" },
  });
  const request = new NodeRequest({ req: req as unknown as NodeIncoming }, {} as NodeClient, "/", req);
  req.push("first");
  const reading = request.body(limits);
  await new Promise((resolve) => setImmediate(resolve));
  req.push(" and second");
  req.push(null);
  expect(Buffer.from(await reading).toString()).toBe("first and second");
});

it("takes nothing of a stream that was broken off", async () => {
  const stream = new Readable({ read() {} });
  stream.push("whole");
  stream.destroy();
  await expect(readNodeBody(stream, 5, limits, inOnePiece)).rejects.toMatchObject({ failure: "aborted" });
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
