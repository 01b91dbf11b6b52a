import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { AbortNotifier } from "../../../src/call/abort-notifier.js";
import { type CallDirectly, directCallOf } from "../../../src/providers/direct-call.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { createGate, hangBeforeHeaders, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { freePort } from "../../support/free-port.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function start(options: Parameters<typeof openAICompatible>[0]) {
  const provider = openAICompatible(options);
  closers.push(async () => provider.close?.());
  const call = directCallOf(provider) as CallDirectly;
  return (notice = new AbortNotifier()) => {
    const handover = { count: 0, handedOver: () => void handover.count++, respondsOn() {} };
    const parts = { endpoint: "chat/completions", model: "m", stream: false, requestId: "req_1", notice } as const;
    const answer = call({ ...parts, body: Buffer.from("{}") }, handover);
    answer.catch(() => {});
    return { answer, handover, notice };
  };
}

async function startUpstream() {
  const upstream = await startFakeUpstream();
  closers.push(() => upstream.close());
  return upstream;
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe.each([
  ["undici", {}],
  ["fetch", { fetch: globalThis.fetch }],
])("a request over %s is handed over", (_name, transport) => {
  it("once, before its answer comes", async () => {
    const upstream = await startUpstream();
    upstream.reply(hangBeforeHeaders());
    const send = start({ baseURL: upstream.url, ...transport });
    const { handover, answer, notice } = send();
    await upstream.nextRequest();
    expect(handover.count).toBe(1);
    notice.abort();
    await expect(answer).rejects.toMatchObject({ failure: "aborted" });
    upstream.reply(wholeAnswer({}));
    const next = send();
    await next.answer;
    expect(next.handover.count).toBe(1);
  });

  it("not while its key is being looked up, nor when its call was over before", async () => {
    const upstream = await startUpstream();
    const send = start({ baseURL: upstream.url, ...transport, apiKey: () => new Promise(() => {}) });
    const { handover, answer, notice } = send();
    await turns();
    notice.abort();
    await expect(answer).rejects.toMatchObject({ failure: "aborted" });
    const late = start({ baseURL: upstream.url, ...transport })(notice);
    await expect(late.answer).rejects.toMatchObject({ failure: "aborted" });
    expect([handover.count, late.handover.count]).toEqual([0, 0]);
  });

  it("or fails as unreachable where nobody listens", async () => {
    const { answer } = start({ baseURL: `http://127.0.0.1:${await freePort()}/v1`, ...transport })();
    await expect(answer).rejects.toMatchObject({ failure: "unreachable" });
  });
});

describe("over undici it is not handed over", () => {
  it("where the connection is refused", async () => {
    const { answer, handover } = start({ baseURL: `http://127.0.0.1:${await freePort()}/v1` })();
    await expect(answer).rejects.toMatchObject({ failure: "unreachable" });
    expect(handover.count).toBe(0);
  });

  it("while the connection comes up", async () => {
    const server = await startSilentServer();
    const { port } = server.address() as AddressInfo;
    const connected = new Promise((resolve) => server.once("connection", resolve));
    const { answer, handover, notice } = start({ baseURL: `https://127.0.0.1:${port}/v1` })();
    await connected;
    await turns();
    notice.abort();
    await expect(answer).rejects.toMatchObject({ failure: "aborted" });
    expect(handover.count).toBe(0);
  });

  it("while it waits for a connection", async () => {
    const upstream = await startUpstream();
    const gate = createGate();
    upstream.reply(wholeAnswer({}, { gate }));
    const send = start({ baseURL: upstream.url, maxConnections: 1 });
    const first = send();
    await upstream.nextRequest();
    const [second, third] = [send(), send()];
    await turns();
    expect([first, second, third].map(({ handover }) => handover.count)).toEqual([1, 0, 0]);
    third.notice.abort();
    gate.open();
    for (const { answer } of [first, second]) for await (const _ of (await answer).body);
    await expect(third.answer).rejects.toMatchObject({ failure: "aborted" });
    expect([first, second, third].map(({ handover }) => handover.count)).toEqual([1, 1, 0]);
  });
});

/** Accepts connections and sends nothing, so that no TLS handshake comes to its end. */
async function startSilentServer(): Promise<Server> {
  const sockets = new Set<import("node:net").Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return server;
}
