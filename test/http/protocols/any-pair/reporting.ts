import { chatAnswer, chatChunks, eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { nativeEvents as messageEvents, nativeMessage } from "../../../support/operations/messages/message-samples.js";
import {
  nativeResponse,
  nativeEvents as responseEvents,
} from "../../../support/operations/responses/response-samples.js";
import type { Spoken } from "./start-pair.js";

/** What a server says of the tokens; `null`: nothing. */
export type Report = Record<string, unknown> | null;

type Event = Record<string, unknown> & { type?: string };

const named = (event: Event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** A server that reports this usage wherever one stands. @param more - members of the response, and of what stands for it in a stream. */
export function reporting(target: Spoken, usage: Report, more: Record<string, unknown> = {}): FakeAnswer {
  const within = (event: Event): Event => {
    const said = JSON.parse(JSON.stringify(event), (name, value) => (name === "usage" && value ? usage : value));
    return "response" in said ? { ...said, response: { ...said.response, ...more } } : { ...said, ...more };
  };
  const whole = {
    "chat/completions": () => wholeAnswer({ ...chatAnswer(), ...more, usage }),
    responses: () => wholeAnswer({ ...nativeResponse(), ...more, usage }),
    messages: () => wholeAnswer({ ...nativeMessage(), ...more, usage }),
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
