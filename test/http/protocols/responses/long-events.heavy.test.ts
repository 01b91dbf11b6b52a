import { describe, expect, it } from "vitest";
import { eventStream } from "../../../../src/testing.js";
import { chatServer } from "../../../support/operations/responses/response-samples.js";
import {
  parseEvents,
  type ResponsesServer,
  withResponses,
} from "../../../support/operations/responses/responses-server.js";

const text = "é\n👋 ".repeat(400_000);

const chunk = (delta: object, finish: string | null = null) => ({
  ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "up" },
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const said = [
  chunk({ role: "assistant", content: "short " }),
  chunk({ content: text }),
  chunk({ content: " and end" }),
];

async function open({ post, upstream }: ResponsesServer, answer: ReturnType<typeof eventStream>) {
  upstream.reply(answer);
  const response = await post({ stream: true });
  expect(response.status).toBe(200);
  return response;
}

describe("an event that is long", () => {
  it(
    "comes in its place, as do the events that repeat its text",
    withResponses(chatServer, async (server) => {
      const response = await open(server, eventStream([...said, chunk({}, "stop")]));
      const events = parseEvents(await response.text());
      expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, index) => index));
      const deltas = events.filter(({ data }) => data.type === "response.output_text.delta");
      // Not by comparisons that would print megabytes.
      expect(deltas.map(({ data }) => data["delta"] === text)).toEqual([false, true, false]);
      const whole = `short ${text} and end`;
      expect(events.at(-1)?.data.type).toBe("response.completed");
      const last = events.at(-1)?.data as unknown as { response: { output: { content: { text: string }[] }[] } };
      expect(last.response.output[0]?.content[0]?.text === whole).toBe(true);
      const done = events.find(({ data }) => data.type === "response.output_text.done");
      expect(done?.data["text"] === whole).toBe(true);
    }),
  );

  it(
    "is not written any further once its client has left",
    withResponses(chatServer, async (server) => {
      const response = await open(server, eventStream([...said, chunk({}, "stop")]));
      const ended = server.nextEvent();
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.read();
      await reader?.cancel();
      expect(await ended).toMatchObject({ status: 200 });
    }),
  );

  it(
    "is whole where the stream breaks off behind it",
    withResponses(chatServer, async (server) => {
      const response = await open(server, eventStream(said, { end: "cut" }));
      const events = parseEvents(await response.text());
      expect(events.some(({ data }) => data["delta"] === text)).toBe(true);
      expect(events.slice(-2).map(({ data }) => data.type)).toEqual(["error", "response.failed"]);
    }),
  );

  it(
    "says in its usage what the call cost, where the host wants that",
    withResponses(
      chatServer,
      async (server) => {
        const response = await open(server, eventStream([...said, chunk({}, "stop")]));
        const last = parseEvents(await response.text()).at(-1)?.data as unknown as { response: { usage: object } };
        expect(last.response.usage).toMatchObject({ cost: expect.any(Number) });
      },
      { exposeCost: true },
    ),
  );
});
