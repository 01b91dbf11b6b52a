import { chatAnswer, chatChunks, eventStream, type FakeAnswer, wholeAnswer } from "../../../src/testing.js";
import { nativeEvents as messageEvents, nativeMessage } from "../messages/message-samples.js";
import { nativeResponse, nativeEvents as responseEvents } from "../responses/response-samples.js";
import type { Spoken } from "./start-pair.js";

/** What a server says of the tokens; `null`: nothing. */
export type Report = Record<string, unknown> | null;

type Event = Record<string, unknown> & { type?: string };

const named = (event: Event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** A server that reports this usage wherever one stands. */
export function reporting(target: Spoken, usage: Report): FakeAnswer {
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
