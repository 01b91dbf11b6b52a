import { afterEach, describe, expect, it } from "vitest";
import { AbortNotifier } from "../../../../src/call/abort-notifier.js";
import { directCallOf } from "../../../../src/providers/direct-call.js";
import { type OpenAICompatibleOptions, openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { readAll, upstreamCall } from "../../../../src/testing/upstream-operations/operation-rules.js";
import {
  type ClosingServer,
  closesSecond,
  type Reaction,
  startClosingServer,
  streamedResponse,
  wholeResponse,
} from "../../../support/closing-server.js";
import { nextRound } from "../../../support/providers/provider-harness.js";

const interrupted = { name: "UpstreamError", failure: "interrupted" };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Calls of one provider, in pieces where `upload` is given. */
function callsTo(server: ClosingServer, options: Partial<OpenAICompatibleOptions> = {}) {
  const provider = openAICompatible({ baseURL: server.baseURL, apiKey: "sk-upstream", ...options });
  closers.push(async () => provider.close?.());
  const callDirectly = directCallOf(provider);
  if (callDirectly === undefined) throw new Error("It is one of the gateway's own.");
  const handover = { count: 0, handedOver: () => void handover.count++, respondsOn() {} };
  return {
    handover,
    async call({ upload, stream = false, notice = new AbortNotifier() as never }: Sending = {}) {
      const parts = upstreamCall({ stream });
      const answer = await callDirectly({ ...parts, body: upload ?? parts.body, notice }, handover);
      const text = (await readAll(answer.body)).toString();
      // Undici takes a connection for free one round after its response.
      await nextRound();
      return { status: answer.status, text };
    },
  };
}

interface Sending {
  upload?: readonly Uint8Array[];
  stream?: boolean;
  notice?: AbortSignal;
}

const long = Buffer.alloc(3 * 1024 * 1024, "x");
const upload = [Buffer.from('{"model":"m","a":"'), long, Buffer.from('","b":"'), long, Buffer.from('"}')];

describe.each(["fin", "rst"] as const)("a kept connection that the upstream closes by %s as a request comes", (how) => {
  it.each([
    ["whole", wholeResponse(), {}],
    ["streamed", streamedResponse(), { stream: true }],
    ["a long request in pieces", wholeResponse(), { upload }],
  ] as const)("costs no call anything: %s", async (_name, response, sending) => {
    const server = await startClosingServer(closesSecond(how, response));
    const { call, handover } = callsTo(server);
    const calls = "upload" in sending ? 10 : 50;
    for (let count = 0; count < calls; count++) {
      const { status, text } = await call(sending);
      expect([status, text.includes("Hi")]).toEqual([200, true]);
    }
    // The first one meets no kept connection. Each of the others does, and is sent twice.
    expect({ ...server }).toMatchObject({ served: calls, received: 2 * calls - 1, sockets: calls, mostAtOnce: 1 });
    expect(handover.count).toBe(calls);
  });

  it("is followed by a new connection, not by another kept one", async () => {
    const held: (() => void)[] = [];
    let closes = false;
    const server = await startClosingServer(({ onSocket }) => {
      if (closes && onSocket > 0) return how;
      return closes ? wholeResponse() : (socket) => void held.push(() => socket.write(wholeResponse()));
    });
    const { call } = callsTo(server);
    const three = [call(), call(), call()];
    await expect.poll(() => held.length).toBe(3);
    for (const answer of held) answer();
    await Promise.all(three);
    closes = true;
    expect((await call()).status).toBe(200);
    expect(server).toMatchObject({ received: 5, sockets: 4 });
  });

  it("is a failure where the new connection is closed as well", async () => {
    const server = await startClosingServer(({ inAll }) => (inAll === 1 || inAll === 2 ? how : wholeResponse()));
    const { call } = callsTo(server);
    await call();
    await expect(call()).rejects.toMatchObject(interrupted);
    expect(server).toMatchObject({ received: 3, sockets: 2 });
    expect((await call()).status).toBe(200);
  });

  it("is a failure once a byte of the response has come", async () => {
    const starts = ["H", "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK\r\n"];
    for (const start of starts) {
      const server = await startClosingServer(({ onSocket }) => {
        if (onSocket === 0) return wholeResponse();
        return (socket) => socket.write(start, () => (how === "fin" ? socket.end() : socket.resetAndDestroy()));
      });
      const { call } = callsTo(server);
      await call();
      await expect(call()).rejects.toMatchObject(interrupted);
      expect(server).toMatchObject({ received: 2, sockets: 1 });
    }
  });

  it("waits for no more than the connections that it may have", async () => {
    const server = await startClosingServer(closesSecond(how, wholeResponse()));
    const { call } = callsTo(server, { maxConnections: 1 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => call()));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(server).toMatchObject({ served: 10, received: 19, sockets: 10, mostAtOnce: 1 });
  });
});

describe("a connection that never had a response", () => {
  it.each(["fin", "rst"] as const)("is a failure where it is closed by %s", async (how) => {
    const server = await startClosingServer(() => how);
    const { call } = callsTo(server);
    await expect(call()).rejects.toMatchObject(interrupted);
    await expect(call({ upload })).rejects.toMatchObject(interrupted);
    expect(server).toMatchObject({ received: 2, sockets: 2 });
  });
});

describe("a request that is sent once more", () => {
  /** Its first sending is reset; what happens to the second one. */
  const repeated = (second: Reaction) =>
    startClosingServer(({ inAll }) => [wholeResponse(), "rst" as const][inAll] ?? second);

  it("can be aborted", async () => {
    const notice = new AbortNotifier();
    const server = await repeated(() => notice.abort());
    const { call } = callsTo(server);
    await call();
    await expect(call({ notice: notice as never })).rejects.toMatchObject({ failure: "aborted" });
    expect(server.received).toBe(3);
  });

  it("has no more time than one that is sent once", async () => {
    const server = await repeated(() => {});
    const { call } = callsTo(server, { timeoutMs: 300 });
    await call();
    await expect(call()).rejects.toMatchObject({ failure: "timeout" });
    expect(server.received).toBe(3);
  });
});

describe("the time that a server keeps a connection", () => {
  it("is what it says, less a margin", async () => {
    for (const [header, sockets] of [
      ["keep-alive: timeout=2\r\n", 3],
      ["keep-alive: timeout=60\r\n", 1],
    ] as const) {
      const server = await startClosingServer(() => wholeResponse(header));
      const { call } = callsTo(server);
      for (let count = 0; count < 3; count++) await call();
      expect(server).toMatchObject({ served: 3, sockets });
    }
  });
});
