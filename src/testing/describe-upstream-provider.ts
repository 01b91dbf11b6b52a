import { Buffer } from "node:buffer";
import type { UpstreamOperation, UpstreamProvider } from "../providers/upstream-provider.js";
import { chatAnswer, chatChunks, errorBody } from "./chat-samples.js";
import { expect } from "./expect.js";
import {
  eventStream,
  hangBeforeHeaders,
  resetBeforeHeaders,
  toEventBytes,
  wholeAnswer,
} from "./fake-upstream/fake-responses.js";
import { type FakeUpstream, startFakeUpstream } from "./fake-upstream/fake-upstream.js";
import { createGate } from "./gate.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";
import { defineOperationRules, readAll, readBytes, upstreamCall } from "./upstream-operations/operation-rules.js";

/** A {@link TestRunner}, and what differs between providers. */
export interface DescribeUpstreamProviderOptions extends TestRunner {
  /** Answers come as they were sent, byte for byte; others are translated, and mean the same. Default: `true`. */
  verbatim?: boolean | undefined;
  /**
   * The operations that it must speak, beside chat completions: those that it does not are a failure. Default: its own
   * `operations`; tests of others are skipped.
   */
  operations?: readonly UpstreamOperation[] | undefined;
}

interface Both {
  upstream: FakeUpstream;
  provider: UpstreamProvider;
}

/**
 * Defines the tests that every {@link UpstreamProvider} must pass which speaks to a server of OpenAI's API: whole and
 * streamed responses, broken connections, cancellation; and, for each of its `operations`, requests, answers and errors,
 * with forms and bytes among them. Tests of operations that it does not speak are skipped.
 *
 * @param make - makes a provider of the server at this base URL, such as `http://127.0.0.1:40123/v1`, for tests of this
 * operation. The tests call its model `sample-model`. Rankings are answered as by Cohere's server.
 */
export function describeUpstreamProvider(
  name: string,
  make: (baseURL: string, operation: UpstreamOperation) => UpstreamProvider | Promise<UpstreamProvider>,
  { verbatim = true, operations, ...runner }: DescribeUpstreamProviderOptions = {},
): void {
  const { describe, it } = testRunnerOf(runner);

  const withBoth = async (test: (both: Both) => Promise<void>): Promise<void> => {
    const upstream = await startFakeUpstream();
    const provider = await make(upstream.url, "chat/completions");
    try {
      await test({ upstream, provider });
    } finally {
      await provider.close?.();
      await upstream.close();
    }
  };
  const bothIt = (title: string, test: (both: Both) => Promise<void>) => it(title, () => withBoth(test));
  const runIf = (condition: boolean) => (condition ? bothIt : () => {});

  describe(`${name}: the upstream provider contract`, () => {
    bothIt("gives a whole answer", async ({ upstream, provider }) => {
      const body = chatAnswer({ content: "Grüße" });
      upstream.reply(wholeAnswer(body));
      const answer = await provider.call(upstreamCall());
      expect(answer.status).toBe(200);
      expect(answer.headers["content-type"]).toMatch(/^application\/json/);
      const json = JSON.parse((await readAll(answer.body)).toString());
      if (verbatim) expect(json).toEqual(body);
      else expect(json).toMatchObject({ id: body.id, object: body.object, usage: body.usage, choices: body.choices });
    });

    bothIt("sends the model and the body", async ({ upstream, provider }) => {
      await readAll((await provider.call(upstreamCall())).body);
      expect(upstream.lastRequest.method).toBe("POST");
      expect(upstream.lastRequest.json).toMatchObject({
        model: "sample-model",
        messages: [{ role: "user", content: "Hi" }],
      });
    });

    runIf(!verbatim)("gives each word of a stream as soon as it is there", async ({ upstream, provider }) => {
      const gate = createGate();
      const words = ["one", " two", " three"];
      upstream.reply(eventStream(chatChunks(words.join("")), { gate }));
      const calling = provider.call(upstreamCall({ stream: true }));
      // The headers, and a chunk with a role and no text.
      gate.step(2);
      const answer = await calling;
      expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/);
      const iterator = answer.body[Symbol.asyncIterator]();
      for (const word of words) {
        gate.step();
        const { value } = await iterator.next();
        expect(Buffer.from(value ?? []).toString()).toContain(`"content":${JSON.stringify(word)}`);
      }
      gate.open();
      const rest = (await readAll({ [Symbol.asyncIterator]: () => iterator })).toString();
      expect(rest).toContain('"finish_reason":"stop"');
      expect(rest).toMatch(/"total_tokens":12.*\n\ndata: \[DONE\]\n\n$/);
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    });

    runIf(verbatim)("gives each event of a stream as soon as it is there", async ({ upstream, provider }) => {
      const gate = createGate();
      const chunks = chatChunks("one two three");
      upstream.reply(eventStream(chunks, { gate }));
      const calling = provider.call(upstreamCall({ stream: true }));
      gate.step();
      const answer = await calling;
      expect(answer.status).toBe(200);
      expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/);
      const iterator = answer.body[Symbol.asyncIterator]();
      for (const chunk of chunks) {
        gate.step();
        const event = toEventBytes(chunk);
        expect(await readBytes(iterator, event.length)).toEqual(event);
      }
      gate.open();
      expect((await readBytes(iterator, 14)).toString()).toBe("data: [DONE]\n\n");
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    });

    it.each([400, 401, 404, 429, 500, 503])("gives an answer with status %i like any other", (status) =>
      withBoth(async ({ upstream, provider }) => {
        const body = errorBody("No.");
        upstream.reply(wholeAnswer(body, { status, headers: { "retry-after": "7" } }));
        const answer = await provider.call(upstreamCall());
        expect(answer.status).toBe(status);
        expect(answer.headers["retry-after"]).toBe("7");
        expect(JSON.parse((await readAll(answer.body)).toString())).toEqual(body);
      }),
    );

    runIf(verbatim)("gives an empty body", async ({ upstream, provider }) => {
      upstream.reply(wholeAnswer("", { status: 502 }));
      const answer = await provider.call(upstreamCall());
      expect(await readAll(answer.body)).toHaveLength(0);
    });

    bothIt("rejects as unreachable when nobody listens", async ({ upstream, provider }) => {
      await upstream.close();
      await expect(provider.call(upstreamCall())).rejects.toMatchObject({
        name: "UpstreamError",
        failure: "unreachable",
      });
    });

    bothIt(
      "rejects as interrupted when the connection breaks before the answer, and does not try again",
      async ({ upstream, provider }) => {
        upstream.reply(resetBeforeHeaders());
        await expect(provider.call(upstreamCall())).rejects.toMatchObject({
          name: "UpstreamError",
          failure: "interrupted",
        });
        expect(upstream.requests).toHaveLength(1);
      },
    );

    runIf(!verbatim)(
      "rejects as interrupted when the connection breaks within the answer",
      async ({ upstream, provider }) => {
        const gate = createGate();
        upstream.reply(eventStream([...chatChunks("Hello").slice(0, 2), 'data: {"id":"half'], { gate, end: "cut" }));
        const calling = provider.call(upstreamCall({ stream: true }));
        gate.step(3);
        const iterator = (await calling).body[Symbol.asyncIterator]();
        expect(Buffer.from((await iterator.next()).value ?? []).toString()).toContain("Hello");
        gate.open();
        await expect(iterator.next()).rejects.toMatchObject({ name: "UpstreamError", failure: "interrupted" });
        expect(await iterator.next()).toEqual({ done: true, value: undefined });
      },
    );

    runIf(verbatim)(
      "gives what has arrived when the connection breaks within the answer, and then rejects as interrupted",
      async ({ upstream, provider }) => {
        const gate = createGate();
        const event = toEventBytes(chatChunks("Hello")[0] ?? {});
        upstream.reply(eventStream([event, 'data: {"id":"half'], { gate, end: "cut" }));
        const calling = provider.call(upstreamCall({ stream: true }));
        gate.step(2);
        const iterator = (await calling).body[Symbol.asyncIterator]();
        expect(await readBytes(iterator, event.length)).toEqual(event);
        gate.step();
        expect((await readBytes(iterator, 15)).toString()).toBe('data: {"id":"half');
        gate.open();
        await expect(iterator.next()).rejects.toMatchObject({ name: "UpstreamError", failure: "interrupted" });
        expect(await iterator.next()).toEqual({ done: true, value: undefined });
      },
    );

    bothIt("is not called with a signal that is aborted already", async ({ upstream, provider }) => {
      const signal = AbortSignal.abort();
      await expect(provider.call(upstreamCall({ signal }))).rejects.toMatchObject({
        name: "UpstreamError",
        failure: "aborted",
      });
      expect(upstream.requests).toHaveLength(0);
    });

    bothIt("cancels while it waits for the answer", async ({ upstream, provider }) => {
      upstream.reply(hangBeforeHeaders());
      const controller = new AbortController();
      const calling = provider.call(upstreamCall({ signal: controller.signal }));
      const request = await upstream.nextRequest();
      controller.abort();
      await expect(calling).rejects.toMatchObject({ name: "UpstreamError", failure: "aborted" });
      expect(await request.closed).toBe("broken");
    });

    bothIt("cancels in the middle of an answer", async ({ upstream, provider }) => {
      const gate = createGate();
      upstream.reply(eventStream(chatChunks(), { gate }));
      const controller = new AbortController();
      const calling = provider.call(upstreamCall({ stream: true, signal: controller.signal }));
      gate.step(verbatim ? 2 : 3);
      const iterator = (await calling).body[Symbol.asyncIterator]();
      expect((await iterator.next()).done).toBe(false);
      const next = iterator.next();
      controller.abort();
      await expect(next).rejects.toMatchObject({ name: "UpstreamError", failure: "aborted" });
      expect(await upstream.lastRequest.closed).toBe("broken");
    });

    bothIt("ends the call when the iteration is broken off", async ({ upstream, provider }) => {
      upstream.reply(eventStream(chatChunks(), { end: "hang" }));
      const answer = await provider.call(upstreamCall({ stream: true }));
      for await (const _piece of answer.body) break;
      expect(await upstream.lastRequest.closed).toBe("broken");
    });

    bothIt("serves many calls at once", async ({ upstream, provider }) => {
      const gate = createGate();
      upstream.reply(async (request, response) => {
        await gate.pass();
        await wholeAnswer(chatAnswer({ content: request.json.messages[0].content }))(request, response);
      });
      const contents = Array.from({ length: 20 }, (_, index) => `call ${index}`);
      const calls = contents.map(async (content) => {
        const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }] }));
        const answer = await provider.call(upstreamCall({ body }));
        return JSON.parse((await readAll(answer.body)).toString()).choices[0].message.content;
      });
      for (const _content of contents) await upstream.nextRequest();
      gate.open();
      expect(await Promise.all(calls)).toEqual(contents);
    });

    bothIt("stays usable after close", async ({ provider }) => {
      await readAll((await provider.call(upstreamCall())).body);
      await provider.close?.();
      const answer = await provider.call(upstreamCall());
      expect((await readAll(answer.body)).length).toBeGreaterThan(0);
    });

    defineOperationRules(it, make, { verbatim, operations });
  });
}
