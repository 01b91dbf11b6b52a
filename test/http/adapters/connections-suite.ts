import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGate, hangBeforeHeaders, honestChat, wholeAnswer } from "../../../src/testing.js";
import { type Adapter, type HostedGateway, type Place, startHosted } from "../../support/adapters/host.js";
import { openRaw, postHead } from "../../support/adapters/raw-connection.js";
import { chatBody, eventually } from "./client.js";

const key = "authorization: Bearer sk-pro";

/** What a client can do to a connection. */
export function describeConnections(adapter: Adapter, place: Place): void {
  describe("a connection", () => {
    let test: HostedGateway;
    beforeAll(async () => {
      test = await startHosted(adapter, place, { maxBodyBytes: 1_000_000 });
    });
    afterAll(() => test.close());
    const chat = `${place.prefix}/v1/chat/completions`;
    const models = `${place.prefix}/v1/models`;
    const post = (body: string, ...headers: string[]) =>
      postHead(chat, `content-length: ${body.length}`, ...headers) + body;
    const get = (target: string, ...headers: string[]) =>
      [`GET ${target} HTTP/1.1`, "host: gateway.test", ...headers, "", ""].join("\r\n");

    it("is used again after answers and refusals, read or unread", async () => {
      const connection = await openRaw(test.host.origin);
      const large = " ".repeat(500_000);
      const unauthorized = post(large).replace("sk-pro", "sk-wrong");
      const untyped = post(large).replace("application/json", "text/csv");
      const requests = [
        [200, post(chatBody())],
        [401, unauthorized],
        [400, post("{")],
        [415, untyped],
        [404, get(`${models}/x`, key)],
        [200, post(chatBody())],
      ] as const;
      const statuses: number[] = [];
      for (const [status, request] of requests) {
        connection.send(request);
        statuses.push(status);
        await connection.until((received) => wholeAnswers(received).length === statuses.length);
      }
      expect(wholeAnswers(connection.received)).toEqual(statuses);
      connection.socket.destroy();
    });

    it("answers pipelined requests in their order", async () => {
      const gate = createGate();
      test.upstream.replyOnce(wholeAnswer(undefined, { gate }));
      const connection = await openRaw(test.host.origin);
      connection.send(post(chatBody()), get(models, key) + get(`${models}/x`, key));
      await eventually(() => gate.waiting === 1);
      gate.open();
      const received = await connection.until("model_not_found");
      expect(received).toMatch(/^HTTP\/1\.1 200 .*"chat.completion".*HTTP\/1\.1 200 .*"list".*HTTP\/1\.1 404 /s);
      connection.socket.destroy();
    });

    // Hono's bridge listens to the response alone, which gets no event.
    it.skipIf(adapter.bridgesItself)("ends all its calls to the upstream when it breaks", async () => {
      const known = test.upstream.requests.length;
      const events = test.events.length;
      const count = 15;
      test.upstream.reply(hangBeforeHeaders());
      const connection = await openRaw(test.host.origin);
      for (let index = 0; index < count; index++) connection.send(post(chatBody({ stream: index % 2 === 0 })));
      await eventually(() => test.upstream.requests.length === known + count);
      connection.socket.destroy();
      const calls = test.upstream.requests.slice(known);
      expect(await Promise.all(calls.map((call) => call.closed))).toEqual(Array(count).fill("broken"));
      await eventually(() => test.events.length === events + count);
      expect(test.events.slice(events).map(({ status }) => status)).toEqual(Array(count).fill(499));
      test.upstream.reply(honestChat());
    });

    it("with two keys in one request is refused", async () => {
      const received = await exchange(test, get(models, key, "Authorization: Bearer sk-basic", "connection: close"));
      expect(received).toMatch(/^HTTP\/1\.1 401 /);
      expect(received).toContain('"code":"invalid_api_key"');
    });

    it("takes the absolute form of a target", async () => {
      const received = await exchange(test, get(`http://elsewhere.test${models}?x=1`, key, "connection: close"));
      expect(received).toMatch(/^HTTP\/1\.1 200 .*"object":"list"/s);
    });

    it("takes no empty segment for a host", async () => {
      const received = await exchange(test, get(`/${models}`, key, "connection: close"));
      expect(received).toMatch(/^HTTP\/1\.1 404 /);
    });

    it("of HTTP/1.0 gets a whole answer and a stream", async () => {
      for (const stream of [false, true]) {
        const received = await exchange(test, post(chatBody({ stream })).replace("HTTP/1.1", "HTTP/1.0"));
        expect(received).toMatch(stream ? /data: \[DONE\]\n\n$/ : /"chat.completion".*\}$/s);
        expect(received).not.toContain("chunked");
      }
    });
  });
}

async function exchange({ host }: HostedGateway, request: string): Promise<string> {
  const connection = await openRaw(host.origin);
  connection.send(request);
  return await connection.closed;
}

/** The statuses of the answers that have come in full. */
function wholeAnswers(received: string): number[] {
  const statuses: number[] = [];
  for (let start = 0; ; ) {
    const bodyStart = received.indexOf("\r\n\r\n", start) + 4;
    if (bodyStart < 4) return statuses;
    const head = received.slice(start, bodyStart);
    start = bodyStart + Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (start > received.length) return statuses;
    statuses.push(Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]));
  }
}
