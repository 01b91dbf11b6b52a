import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { collect } from "../../../e2e/clients/collect.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { nativeTarget } from "../../../support/operations/messages/message-samples.js";
import { type MessagesServer, withMessages } from "../../../support/operations/messages/messages-server.js";

afterAll(expectNoSockets);

const ask = { model: "acme/small", messages: [{ role: "user" as const, content: "Say hello." }] };
const calls = [
  { id: "toolu_1", name: "weather", arguments: '{"city":"Rome"}' },
  { id: "toolu_2", name: "now", arguments: "" },
];

function clientOf({ baseURL }: MessagesServer): OpenAI {
  return new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
}

describe("openai's chat completions, in front of a target that speaks Messages", () => {
  it(
    "are whole and streams",
    withMessages(nativeTarget, async (server) => {
      const { completions } = clientOf(server).chat;
      const whole = await completions.create(ask);
      expect(whole).toMatchObject({
        model: "acme/small",
        choices: [{ message: { content: "Hello world" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
      });
      const chunks = await collect(
        await completions.create({ ...ask, stream: true, stream_options: { include_usage: true } }),
      );
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Hello world");
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 12 } });
      expect(server.events).toMatchObject([{ chargedMicro: 39 }, { chargedMicro: 39 }]);
    }),
  );

  it(
    "have their usage also where the server does not count",
    withMessages(nativeTarget, async (server) => {
      const { completions } = clientOf(server).chat;
      server.upstream.reply(nativeTarget.whole({ isUncounted: true }));
      const whole = await completions.create(ask);
      const [event] = server.events;
      expect(event).toMatchObject({ usageSource: "estimated" });
      const counted = { prompt_tokens: event?.tokens.input, completion_tokens: event?.tokens.output };
      expect(whole.usage).toMatchObject(counted);
      server.upstream.reply(nativeTarget.stream({ isUncounted: true }));
      const chunks = await collect(
        await completions.create({ ...ask, stream: true, stream_options: { include_usage: true } }),
      );
      expect(chunks.at(-1)?.usage).toMatchObject(counted);
    }),
  );

  it(
    "call several tools at once, and go on with their results",
    withMessages(nativeTarget, async (server) => {
      const { completions } = clientOf(server).chat;
      const tools = calls.map(({ name }) => ({ type: "function" as const, function: { name } }));
      server.upstream.replyOnce(nativeTarget.stream({ calls }));
      const streamed = await completions.stream({ ...ask, tools }).finalMessage();
      server.upstream.replyOnce(nativeTarget.whole({ calls }));
      const whole = (await completions.create({ ...ask, tools })).choices[0]?.message;
      for (const message of [streamed, whole]) {
        expect(message?.tool_calls).toMatchObject([
          { id: "toolu_1", function: { name: "weather", arguments: '{"city":"Rome"}' } },
          { id: "toolu_2", function: { name: "now", arguments: "{}" } },
        ]);
      }
      const results = calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: `of ${id}` }));
      await completions.create({ ...ask, tools, messages: [...ask.messages, streamed, ...results] });
      const { messages } = server.upstream.lastRequest.json as { messages: { role: string; content: object[] }[] };
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
      expect(messages[2]?.content).toMatchObject([
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ text: "of toolu_1" }] },
        { type: "tool_result", tool_use_id: "toolu_2", content: [{ text: "of toolu_2" }] },
      ]);
    }),
  );

  it(
    "fail in their own words",
    withMessages(nativeTarget, async (server) => {
      const { completions } = clientOf(server).chat;
      server.upstream.reply(nativeTarget.error(529, "overloaded_error", "Overloaded"));
      await expect(completions.create(ask)).rejects.toMatchObject({ status: 502, code: "bad_gateway" });
      server.upstream.reply(nativeTarget.error(400, "invalid_request_error", "messages.0.content: no"));
      await expect(completions.create(ask)).rejects.toMatchObject({
        status: 400,
        param: "messages[0].content",
        type: "invalid_request_error",
      });
      server.upstream.reply(nativeTarget.stream({ isBroken: true }, { end: "cut" }));
      await expect(completions.create({ ...ask, stream: true }).then(collect)).rejects.toMatchObject({
        code: "bad_gateway",
      });
    }),
  );
});
