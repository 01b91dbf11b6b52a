import { once } from "node:events";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Adapter, type HostedGateway, type Place, startHosted } from "../../support/adapters/host.js";
import { openRaw, postHead } from "../../support/adapters/raw-connection.js";
import { collectGarbage } from "../../support/collect-garbage.js";
import { chatBody, chatCall, eventually, refusal } from "./client.js";

const megabyte = Buffer.alloc(1024 * 1024, " ");
/** More than the buffers of two sockets take. */
const large = 16;

async function drained(socket: Socket): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  await Promise.race([once(socket, "drain", { signal }), once(socket, "close", { signal })]).catch(() => {});
  stop.abort();
}

/** Bodies that are too large or too slow. */
export function describeBodies(adapter: Adapter, place: Place): void {
  describe("a body", () => {
    let test: HostedGateway;
    beforeAll(async () => {
      test = await startHosted(adapter, place, { maxBodyBytes: 1000 });
    });
    afterAll(() => test.close());
    const call = (body: NonNullable<RequestInit["body"]>, { host, path } = test) =>
      host.fetch(path("/v1/chat/completions"), { ...chatCall({}, { body }), duplex: "half" });

    it("of the largest size is read", async () => {
      expect((await call(chatBody().padEnd(1000))).status).toBe(200);
    });

    it("in pieces is read", async () => {
      const bytes = Buffer.from(chatBody({ user: "h\u00e9" }));
      const body = new ReadableStream({
        start(controller) {
          for (let start = 0; start < bytes.length; start += 7) controller.enqueue(bytes.subarray(start, start + 7));
          controller.close();
        },
      });
      expect((await call(body)).status).toBe(200);
      expect(test.upstream.lastRequest.json).toMatchObject({ user: "h\u00e9" });
    });

    it("over the limit is a 413, by its length or on the way", async () => {
      const pieces = [megabyte.subarray(0, 999), megabyte.subarray(0, 2)];
      const stream = new ReadableStream({
        pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        },
      });
      for (const body of [chatBody().padEnd(1001), stream]) {
        const response = await call(body);
        expect(await refusal(response)).toEqual([413, "request_too_large"]);
      }
    });

    it(`of ${large} MB gets its 413 while it is still being sent`, async () => {
      const response = await call(Buffer.concat(Array.from({ length: large }, () => megabyte)));
      expect(await refusal(response)).toEqual([413, "request_too_large"]);
    });

    // Who bridges itself also has to take in what the gateway leaves unread.
    it
      .runIf(adapter.hasServer && !adapter.bridgesItself)
      .each([`content-length: ${large * megabyte.length}`, "transfer-encoding: chunked"])(
      `of ${large} MB gets its 413 even when nothing is read before all is sent (%s)`,
      async (header) => {
        const connection = await openRaw(test.host.origin);
        const { socket } = connection;
        socket.pause();
        connection.send(postHead(test.path("/v1/chat/completions"), header));
        const isChunked = header.endsWith("chunked");
        for (let sent = 0; sent < large && !socket.destroyed; sent++) {
          if (isChunked) socket.write("100000\r\n");
          const isTaken = socket.write(megabyte);
          if (isChunked) socket.write("\r\n");
          if (!isTaken) await drained(socket);
        }
        if (isChunked) socket.write("0\r\n\r\n");
        socket.resume();
        expect(await connection.until(/"code":"request_too_large"\}\}/)).toMatch(/^HTTP\/1\.1 413 /);
        socket.destroy();
      },
    );

    it.runIf(adapter.hasServer)("that is declared too large is refused before it is sent", async () => {
      const connection = await openRaw(test.host.origin);
      connection.send(postHead(test.path("/v1/chat/completions"), "content-length: 1001"));
      await connection.until('"code":"request_too_large"}}');
      connection.socket.destroy();
    });

    it("that waits with too many others of its account is a 429, and leaves nothing behind", async () => {
      const crowded = await startHosted(adapter, place, { maxBodyBytes: 200_000, maxPendingBodyBytes: 400_000 });
      const unfinished = () => {
        let finish = () => {};
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(Buffer.from(chatBody().padEnd(120_000)));
            finish = () => controller.close();
          },
        });
        const response = call(body, crowded);
        return { response, finish: () => finish() };
      };
      const [first, second] = [unfinished(), unfinished()];
      const refused = await Promise.race([first.response, second.response]);
      expect(refused.headers.get("retry-after")).toBe("2");
      expect(refused.headers.get("x-should-retry")).toBeNull();
      expect(await refusal(refused)).toEqual([429, "rate_limit_exceeded"]);
      for (const { finish, response } of [first, second]) {
        if ((await Promise.race([response, undefined])) !== refused) finish();
      }
      const statuses = (await Promise.all([first.response, second.response])).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, 429]);
      expect((await call(chatBody().padEnd(200_000), crowded)).status).toBe(200);
      await crowded.close();
    });

    it.runIf(adapter.hasServer)("of one without a key is refused before it is read", async () => {
      const connection = await openRaw(test.host.origin);
      const head = postHead(test.path("/v1/chat/completions"), "content-length: 1000").replace("sk-pro", "sk-nobody");
      connection.send(head);
      expect(await connection.until(/"code":"invalid_api_key"\}\}/)).toMatch(/^HTTP\/1\.1 401 /);
      connection.socket.destroy();
    });

    it.runIf(adapter.hasServer)(
      "that never ends takes no more memory than its account's part, however many there are",
      async () => {
        const most = 4 * megabyte.length;
        const crowded = await startHosted(adapter, place, { maxBodyBytes: most, maxPendingBodyBytes: most });
        collectGarbage();
        const before = process.memoryUsage().arrayBuffers;
        const connections = await Promise.all(
          Array.from({ length: 12 }, async () => {
            const connection = await openRaw(crowded.host.origin);
            connection.send(postHead(crowded.path("/v1/chat/completions"), `content-length: ${most}`));
            for (let sent = 0; sent < 3; sent++) connection.socket.write(megabyte);
            return connection;
          }),
        );
        const isRefused = ({ received }: { received: string }) => received.startsWith("HTTP/1.1 429 ");
        await eventually(() => connections.filter(isRefused).length >= 11);
        expect(connections.filter(isRefused)).toHaveLength(11);
        // What was sent and what was thrown away goes as soon as it is collected.
        await eventually(() => {
          collectGarbage();
          return process.memoryUsage().arrayBuffers - before < 3 * most;
        });
        for (const { socket } of connections) socket.destroy();
        await eventually(() => crowded.events.length === connections.length);
        expect((await call(chatBody().padEnd(most), crowded)).status).toBe(200);
        await crowded.close();
      },
    );

    it("that does not end in time is a 408", async () => {
      const impatient = await startHosted(adapter, place, { bodyTimeoutMs: 100 });
      let push = (_bytes: Uint8Array) => {};
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          push = (bytes) => controller.enqueue(bytes);
        },
      });
      const answer = call(body, impatient);
      push(Buffer.from('{"model":'));
      const response = await answer;
      expect(await refusal(response)).toEqual([408, "request_timeout"]);
      await impatient.close();
    });
  });
}
