import { Buffer } from "node:buffer";
import { answerOf, toErrorEvent } from "../error-answer.js";
import type { ModelWatch } from "../model-watch.js";
import type { CompletionChunks } from "./completion-chunks.js";

const done = "data: [DONE]\n\n";

/**
 * A model's stream as the bytes of server-sent events, made as the reader pulls them. To break the iteration off ends
 * the call.
 */
export function completionStream(
  stream: ReadableStream<unknown>,
  chunks: CompletionChunks,
  watch: ModelWatch,
  idleTimeoutMs: number,
): AsyncIterable<Uint8Array> {
  const reader = stream.getReader();
  const events = readEvents(reader, chunks, watch, idleTimeoutMs);
  const cancel = () => {
    watch.end();
    reader.cancel().catch(() => {});
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => events.next(),
      // A generator that was never started would not clean up after itself.
      return: () => {
        cancel();
        return events.return(undefined);
      },
    }),
  };
}

async function* readEvents(
  reader: ReadableStreamDefaultReader<unknown>,
  chunks: CompletionChunks,
  watch: ModelWatch,
  idleTimeoutMs: number,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  try {
    while (!chunks.isFinished) {
      const { done: isOver, value } = await watch.wait(reader.read(), idleTimeoutMs);
      if (isOver) return;
      const event = chunks.push(value);
      if (event !== "") yield Buffer.from(event);
    }
    yield Buffer.from(done);
  } catch (error) {
    // An error response within the stream becomes an event of it; anything else is thrown on.
    yield Buffer.from(toErrorEvent(answerOf(error, chunks.calledModel)));
  } finally {
    watch.end();
    reader.cancel().catch(() => {});
  }
}
