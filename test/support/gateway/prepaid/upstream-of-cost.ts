import {
  chatAnswer,
  chatChunks,
  eventStream,
  type FakeAnswer,
  type FakeUpstream,
  type Gate,
  startFakeUpstream,
  wholeAnswer,
} from "../../../../src/testing.js";
import { frame, nativeEvents, nativeMessage } from "../../operations/messages/message-samples.js";
import * as responses from "../../operations/responses/response-samples.js";

/** How many tokens of output a request may bring: what it says, else all that the model can do. */
export function capOf(json: Record<string, unknown>, most: number): number {
  const { max_tokens, max_completion_tokens, max_output_tokens } = json;
  const caps = [max_tokens, max_completion_tokens, max_output_tokens].filter((cap) => typeof cap === "number");
  return Math.min(most, ...(caps as number[]));
}

/** Starts a model server that responds as {@link answerOfCost} does. */
export async function startUpstreamOfCost(
  outputOf: (json: Record<string, unknown>) => number,
  gate: Gate,
): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream();
  upstream.reply(answerOfCost(outputOf, gate));
  return upstream;
}

/**
 * The answer of a model server that speaks chat completions, Messages and Responses. It waits at the gate, and then reports
 * no input and as many tokens of output as `outputOf` says, whole or as a stream.
 */
export function answerOfCost(outputOf: (json: Record<string, unknown>) => number, gate: Gate): FakeAnswer {
  return async (request, response) => {
    await gate.pass();
    const json = request.json as Record<string, unknown>;
    await answerOf(request.url, json["stream"] === true, outputOf(json))(request, response);
  };
}

function answerOf(path: string, isStream: boolean, output: number): FakeAnswer {
  if (path.endsWith("/messages")) {
    const usage = { input_tokens: 0, output_tokens: output };
    if (!isStream) return wholeAnswer({ ...nativeMessage(), usage });
    const events = nativeEvents().map((event) => (event.type === "message_delta" ? { ...event, usage } : event));
    return eventStream(events.map(frame), { done: false });
  }
  if (path.endsWith("/responses")) {
    const usage = { input_tokens: 0, output_tokens: output, total_tokens: output };
    const whole = { ...responses.nativeResponse(), usage };
    if (!isStream) return wholeAnswer(whole);
    const events = responses.nativeEvents().map((event) => {
      return frame({
        ...event,
        type: `${event["type"]}`,
        ...(event["type"] === "response.completed" && { response: whole }),
      });
    });
    return eventStream(events, { done: false });
  }
  const usage = { prompt_tokens: 0, completion_tokens: output, total_tokens: output };
  return isStream ? eventStream(chatChunks("Hello world", { usage })) : wholeAnswer(chatAnswer({ usage }));
}
