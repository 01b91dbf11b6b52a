import { expect, it } from "vitest";
import { readAll, readBytes, upstreamCall } from "../../../../src/testing/upstream-operations/operation-rules.js";
import {
  chatChunks,
  createGate,
  eventStream,
  hangAfterHeaders,
  hangBeforeHeaders,
  wholeAnswer,
} from "../../../../src/testing.js";
import { describeTransports, nextRound, useProviders } from "../../../support/providers/provider-harness.js";

const aborted = { name: "UpstreamError", failure: "aborted" };

describeTransports("the end of a call", (harness, transport) => {
  it("tells why it was aborted", async () => {
    harness.upstream.reply(hangBeforeHeaders());
    const controller = new AbortController();
    const calling = harness.provider().call(upstreamCall({ signal: controller.signal }));
    await harness.upstream.nextRequest();
    const reason = new Error("the client has left");
    controller.abort(reason);
    await expect(calling).rejects.toMatchObject({ ...aborted, cause: reason });
  });

  it("can be aborted in the very tick of the call", async () => {
    const controller = new AbortController();
    const calling = harness.provider().call(upstreamCall({ signal: controller.signal }));
    controller.abort();
    await expect(calling).rejects.toMatchObject(aborted);
  });

  it("rejects a read that waits for the first byte of the body when it is aborted", async () => {
    harness.upstream.reply(hangAfterHeaders());
    const controller = new AbortController();
    const { body } = await harness.provider().call(upstreamCall({ signal: controller.signal }));
    const iterator = body[Symbol.asyncIterator]();
    const next = iterator.next();
    controller.abort();
    await expect(next).rejects.toMatchObject(aborted);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
  });

  it("closes the connection on abort while nobody reads", async () => {
    harness.upstream.reply(eventStream(chatChunks(), { end: "hang" }));
    const controller = new AbortController();
    const { body } = await harness.provider().call(upstreamCall({ signal: controller.signal }));
    controller.abort();
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
    await expect(body[Symbol.asyncIterator]().next()).rejects.toMatchObject(aborted);
  });

  it("closes the connection on abort while the upstream is held back", async () => {
    harness.upstream.reply(wholeAnswer(Buffer.alloc(32 * 1024 * 1024)));
    const controller = new AbortController();
    const { body } = await harness.provider().call(upstreamCall({ signal: controller.signal }));
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    for (let round = 0; round < 20; round += 1) await nextRound();
    controller.abort();
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
    await expect(iterator.next()).rejects.toMatchObject(aborted);
  });

  it("does nothing on abort when the answer is complete, whether it was read or not", async () => {
    const provider = harness.provider();
    const controller = new AbortController();
    const { body } = await provider.call(upstreamCall({ signal: controller.signal }));
    await harness.upstream.lastRequest.closed;
    await readAll(body);
    controller.abort();
    await nextRound();
    await readAll((await provider.call(upstreamCall())).body);
    expect(harness.upstream.acceptedSockets).toBe(1);
  });

  it("leaves no listener on the signal", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const counting: AbortSignal = new Proxy(signal, {
      get(target, name) {
        if (name === "addEventListener") return () => (listeners += 1);
        if (name === "removeEventListener") return () => (listeners -= 1);
        return Reflect.get(target, name, target);
      },
    });
    const { body } = await harness.provider().call(upstreamCall({ signal: counting }));
    expect(listeners).toBeGreaterThanOrEqual(0);
    await readAll(body);
    expect(listeners).toBe(0);
  });

  it("keeps the connection when a stream is left after its last event", async () => {
    const gate = createGate();
    harness.upstream.replyOnce(eventStream(["data: x\n\n"], { gate }));
    const provider = harness.provider();
    const calling = provider.call(upstreamCall({ stream: true }));
    gate.step(3);
    const iterator = (await calling).body[Symbol.asyncIterator]();
    expect((await readBytes(iterator, 9 + 14)).toString()).toContain("[DONE]");
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    gate.open();
    expect(await harness.upstream.lastRequest.closed).toBe("completed");
    for (let round = 0; round < 10; round += 1) await nextRound();
    await readAll((await provider.call(upstreamCall())).body);
    expect(harness.upstream.acceptedSockets).toBe(1);
  });

  it("closes the connection when a stream is left that goes on", async () => {
    harness.upstream.reply(eventStream(chatChunks(), { end: "hang" }));
    const { body } = await harness.provider().call(upstreamCall({ stream: true }));
    await body[Symbol.asyncIterator]().return?.();
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
  });

  it("does not read much of what nobody wants", async () => {
    harness.upstream.reply(wholeAnswer(Buffer.alloc(64 * 1024 * 1024)));
    const { body } = await harness.provider().call(upstreamCall());
    for await (const _piece of body) break;
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
  });

  it("closes at once on abort after the stream was left", async () => {
    harness.upstream.reply(eventStream(chatChunks(), { end: "hang" }));
    const controller = new AbortController();
    const { body } = await harness.provider().call(upstreamCall({ stream: true, signal: controller.signal }));
    await body[Symbol.asyncIterator]().return?.();
    controller.abort();
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
  });

  it("ends a pending read when the stream is left", async () => {
    harness.upstream.reply(hangAfterHeaders());
    const { body } = await harness.provider().call(upstreamCall({ stream: true }));
    const iterator = body[Symbol.asyncIterator]();
    const next = iterator.next();
    await iterator.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
  });

  it("refuses a second read while one is pending", async () => {
    harness.upstream.reply(hangAfterHeaders());
    const controller = new AbortController();
    const { body } = await harness.provider().call(upstreamCall({ signal: controller.signal }));
    const iterator = body[Symbol.asyncIterator]();
    const first = iterator.next();
    await expect(iterator.next()).rejects.toThrow("being read already");
    controller.abort();
    await expect(first).rejects.toMatchObject(aborted);
  });

  it("survives every order of end, failure, abort and leaving", async () => {
    const ends = ["end", "cut", "reset", "hang"] as const;
    const actions = ["abort", "return", "abort return", "return abort", "next abort", "next return", "nothing"];
    const provider = harness.provider();
    for (const end of ends) {
      for (const action of actions) {
        for (const rounds of [0, 1, 2, 3, 5]) {
          harness.upstream.replyOnce(eventStream(["data: 1\n\n"], { end }));
          const controller = new AbortController();
          const outcome = provider.call(upstreamCall({ signal: controller.signal })).then(async ({ body }) => {
            const iterator = body[Symbol.asyncIterator]();
            for (let round = 0; round < rounds; round += 1) await nextRound();
            const reads: Promise<unknown>[] = [];
            for (const step of action.split(" ")) {
              if (step === "abort") controller.abort();
              if (step === "return") await iterator.return?.();
              if (step === "next") reads.push(iterator.next());
            }
            await Promise.allSettled(reads);
            if (end === "hang" && action === "nothing") controller.abort();
            await readAll({ [Symbol.asyncIterator]: () => iterator });
          });
          await outcome.catch((error: unknown) => expect(error).toMatchObject({ name: "UpstreamError" }));
        }
      }
    }
    // The provider has suffered no harm.
    expect((await readAll((await provider.call(upstreamCall())).body)).length).toBeGreaterThan(0);
  });

  if (transport === "undici") {
    it("gives up its place in the queue for a connection on abort", async () => {
      const gate = createGate();
      harness.upstream.replyOnce(wholeAnswer("first", { gate }));
      const provider = harness.provider({ maxConnections: 1 });
      const first = provider.call(upstreamCall());
      await harness.upstream.nextRequest();
      const controller = new AbortController();
      const queued = provider.call(upstreamCall({ signal: controller.signal }));
      const third = provider.call(upstreamCall());
      controller.abort();
      await expect(queued).rejects.toMatchObject(aborted);
      gate.open();
      expect((await readAll((await first).body)).toString()).toBe("first");
      await readAll((await third).body);
      expect(harness.upstream.requests).toHaveLength(2);
      expect(harness.upstream.acceptedSockets).toBe(1);
    });
  }
});

const undici = useProviders("undici");

it("lets an answer end when the provider is closed meanwhile, over undici", async () => {
  const gate = createGate();
  undici.upstream.reply(wholeAnswer("still here", { gate }));
  const provider = undici.provider();
  const calling = provider.call(upstreamCall());
  await undici.upstream.nextRequest();
  await provider.close?.();
  gate.open();
  expect((await readAll((await calling).body)).toString()).toBe("still here");
  await undici.upstream.idle();
});
