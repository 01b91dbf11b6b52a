import { chatAnswer, chatChunks, eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import * as messages from "../../../support/operations/messages/message-samples.js";
import { nativeEvents, nativeResponse } from "../../../support/operations/responses/response-samples.js";

/** What an upstream and a client can speak. */
export type Protocol = "chat/completions" | "responses" | "messages";

export const protocols: readonly Protocol[] = ["chat/completions", "responses", "messages"];

const caps = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/** The largest cap of a request; `undefined`: it has none. */
export function capOf(json: Record<string, unknown>): number | undefined {
  const found = caps.map((name) => json[name]).filter((cap) => typeof cap === "number");
  return found.length === 0 ? undefined : Math.max(...found);
}

/** A model that writes as much as the request lets it: up to its cap, else `most` tokens. It reads 5 tokens of prompt. */
export function greedy(most: number, input = 5): FakeAnswer {
  return (request, response) => {
    const { json, url } = request;
    const output = Math.min(capOf(json) ?? most, most) * (typeof json.n === "number" ? json.n : 1);
    const answer = answerOf(url, json.stream === true, { input, output });
    return answer(request, response);
  };
}

interface Counted {
  readonly input: number;
  readonly output: number;
}

function answerOf(url: string, stream: boolean, { input, output }: Counted): FakeAnswer {
  const usage = { input_tokens: input, output_tokens: output };
  if (url.endsWith("/messages")) {
    const events = messages.nativeEvents().map((event) => {
      if (event.type === "message_start") return { ...event, message: { ...(event["message"] as object), usage } };
      return event.type === "message_delta" ? { ...event, usage: { output_tokens: output } } : event;
    });
    return stream
      ? eventStream(events.map(messages.frame), { done: false })
      : wholeAnswer({ ...messages.nativeMessage(), usage });
  }
  if (url.endsWith("/responses")) {
    const response = { ...nativeResponse(), usage: { ...usage, total_tokens: input + output } };
    const events = nativeEvents().map((event) =>
      event["type"] === "response.completed" ? { ...event, response } : event,
    );
    return stream ? eventStream(events.map(frame), { done: false }) : wholeAnswer(response);
  }
  const counts = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  return stream
    ? eventStream(chatChunks("Hello world", { usage: counts }))
    : wholeAnswer(chatAnswer({ usage: counts }));
}

function frame(event: Record<string, unknown>): string {
  return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
}
