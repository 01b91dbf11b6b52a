import { afterEach, describe, expect, it } from "vitest";
import { chatAnswer, chatChunks, eventStream, type FakeAnswer, wholeAnswer } from "../../../src/testing.js";
import { nativeEvents as messageEvents, nativeMessage } from "../messages/message-samples.js";
import { nativeResponse, nativeEvents as responseEvents } from "../responses/response-samples.js";
import { allPairs, type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

const wrongNumbers = [-1, -1_000_000, 1e15, 1.5e300, 0.5, Number.MAX_SAFE_INTEGER];

/** Reports with a wrong number in each place of each vendor's. */
const wrongUsage: Readonly<Record<Spoken, (wrong: number) => Record<string, unknown>[]>> = {
  "chat/completions": (wrong) => [
    { prompt_tokens: wrong, completion_tokens: 3, total_tokens: 12 },
    { prompt_tokens: 9, completion_tokens: wrong, total_tokens: 12 },
    { prompt_tokens: 9, completion_tokens: 3, total_tokens: wrong },
    { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, prompt_tokens_details: { cached_tokens: wrong } },
  ],
  responses: (wrong) => [
    { input_tokens: wrong, output_tokens: 3, total_tokens: 12 },
    { input_tokens: 9, output_tokens: wrong, total_tokens: 12 },
    { input_tokens: 9, output_tokens: 3, total_tokens: 12, output_tokens_details: { reasoning_tokens: wrong } },
  ],
  messages: (wrong) => [
    { input_tokens: wrong, output_tokens: 3 },
    { input_tokens: 9, output_tokens: wrong },
    { input_tokens: 9, output_tokens: 3, cache_read_input_tokens: wrong },
    { input_tokens: 9, output_tokens: 3, cache_creation: { ephemeral_1h_input_tokens: wrong } },
    { input_tokens: 9, output_tokens: 3, iterations: [{ type: "message", input_tokens: wrong, output_tokens: 3 }] },
  ],
};

type Event = Record<string, unknown> & { type?: string };

const named = (event: Event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** A server that reports this usage wherever one stands. */
function reporting(target: Spoken, usage: Record<string, unknown>): FakeAnswer {
  const within = (event: Event): Event =>
    JSON.parse(JSON.stringify(event), (name, value) => (name === "usage" && value ? usage : value));
  const whole = {
    "chat/completions": () => wholeAnswer({ ...chatAnswer(), usage }),
    responses: () => wholeAnswer({ ...nativeResponse(), usage }),
    messages: () => wholeAnswer({ ...nativeMessage(), usage }),
  };
  const stream = {
    "chat/completions": () => eventStream(chatChunks("Hello", {}).map(within)),
    responses: () =>
      eventStream(
        responseEvents().map((event) => named(within(event))),
        { done: false },
      ),
    messages: () =>
      eventStream(
        messageEvents().map((event) => named(within(event))),
        { done: false },
      ),
  };
  return (request, response) => (request.json.stream ? stream : whole)[target]()(request, response);
}

function countsIn(text: string): number[] {
  return [...text.matchAll(/tokens":\s*(-?[\d.eE+-]+)/g)].map(([, number]) => Number(number));
}

describe.each(allPairs)("$client on $target", ({ client, target }) => {
  it.each([false, true])("gets no count that cannot be any (stream: %s)", async (stream) => {
    pair = await startPair(client, target);
    const options = client === "chat/completions" && stream ? { stream_options: { include_usage: true } } : {};
    for (const usage of wrongNumbers.flatMap(wrongUsage[target])) {
      pair.server.reply(reporting(target, usage));
      const response = await pair.post({ stream, ...options });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      const counts = countsIn(text);
      expect(counts.length, text).toBeGreaterThan(1);
      const wrong = counts.filter((count) => !Number.isInteger(count) || count < 0 || count > 1e9);
      expect(wrong, text).toEqual([]);
    }
  });
});
