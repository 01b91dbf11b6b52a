import { describe, expect, it } from "vitest";
import { chatAnswer, chatChunks, eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import {
  bothServers,
  chatServer,
  nativeEvents,
  nativeResponse,
  type SampleServer,
} from "../../../support/operations/responses/response-samples.js";
import { readResponseEvents, withResponses } from "../../../support/operations/responses/responses-server.js";

/** What a server counts, in the words of its API. */
const countedByChat = {
  prompt_tokens: 20,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens: 9,
  completion_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};
const counted = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};

function answer(kind: SampleServer, stream: boolean, isCut: boolean): FakeAnswer {
  if (kind === chatServer) {
    const sample = { usage: countedByChat, finishReason: isCut ? "length" : "stop" };
    return stream ? eventStream(chatChunks("Hi", sample)) : wholeAnswer(chatAnswer({ content: "Hi", ...sample }));
  }
  const response = { ...nativeResponse({ isCut }), usage: counted };
  if (!stream) return wholeAnswer(response);
  const events = nativeEvents({ isCut });
  return eventStream([...events.slice(0, -1), { ...events.at(-1), response }], { done: false });
}

describe.each(bothServers)("what $name counts", (kind) => {
  it.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])("is in the response in every detail, and charged so (stream: %s, cut off: %s)", async (stream, isCut) => {
    await withResponses(kind, async (server) => {
      server.upstream.reply(answer(kind, stream, isCut));
      const received = await server.post({ stream });
      const response = stream
        ? (await readResponseEvents(received)).at(-1)?.data["response"]
        : ((await received.json()) as unknown);
      expect(response).toMatchObject({
        status: isCut ? "incomplete" : "completed",
        incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
        usage: counted,
      });
      // 12 at 1, 8 from the cache at 0.5, 5 of output at 10, and 4 of reasoning at 20.
      expect(server.events).toMatchObject([{ chargedMicro: 12 + 4 + 50 + 80, usageSource: "provider" }]);
    })();
  });
});
