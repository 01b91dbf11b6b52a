import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createGate } from "../../../../src/testing.js";
import { collect } from "../../../e2e/clients/collect.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { bothServers } from "../../../support/operations/responses/response-samples.js";
import { type ResponsesServer, withResponses } from "../../../support/operations/responses/responses-server.js";

afterAll(expectNoSockets);

const model = "acme/small";
const input = "Say hello.";
const weather = {
  type: "function" as const,
  name: "weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};

function clientOf({ baseURL }: ResponsesServer, apiKey = "sk-pro"): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

describe.each(bothServers)("openai, in front of $name,", (target) => {
  it(
    "reads a whole response",
    withResponses(target, async (server) => {
      const response = await clientOf(server).responses.create({ model, input });
      expect(response.output_text).toBe("Hello world");
      expect(response).toMatchObject({ model, status: "completed", usage: { total_tokens: 12 } });
      expect(response._request_id).toBe(server.events[0]?.requestId);
    }),
  );

  it(
    "reads a stream, raw and through its helper",
    withResponses(target, async (server) => {
      const raw = await collect(await clientOf(server).responses.create({ model, input, stream: true }));
      expect(raw.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("")).toBe(
        "Hello world",
      );
      const stream = clientOf(server).responses.stream({ model, input });
      const deltas: string[] = [];
      stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
      expect((await stream.finalResponse()).output_text).toBe("Hello world");
      expect(deltas).toEqual(["Hello", " world"]);
    }),
  );

  it(
    "reads a stream over comments and keep-alive events",
    withResponses(
      target,
      async (server) => {
        const gate = createGate();
        server.upstream.replyOnce(target.stream({}, { gate }));
        gate.step(1);
        const stream = clientOf(server).responses.stream({ model, input });
        let isBegun = false;
        stream.on("response.output_text.delta", () => {
          isBegun = true;
        });
        const final = stream.finalResponse();
        await server.commented();
        gate.open();
        expect((await final).output_text).toBe("Hello world");
        expect(isBegun).toBe(true);
      },
      { keepAliveMs: 15 },
    ),
  );

  it(
    "parses what a schema asks for, whole and streamed",
    withResponses(target, async (server) => {
      server.upstream.reply((request, response) => {
        const said = { text: '{"city":"Paris"}' };
        return (request.json.stream ? target.stream(said) : target.whole(said))(request, response);
      });
      const text = { format: zodTextFormat(z.object({ city: z.string() }), "place") };
      const whole = await clientOf(server).responses.parse({ model, input, text });
      expect(whole.output_parsed).toEqual({ city: "Paris" });
      const sent = server.upstream.lastRequest.json;
      expect(sent.text?.format ?? sent.response_format?.json_schema).toMatchObject({ name: "place", strict: true });
      const streamed = await clientOf(server).responses.stream({ model, input, text }).finalResponse();
      expect(streamed.output_parsed).toEqual({ city: "Paris" });
    }),
  );

  it.each([false, true])("runs its tools in a loop (stream: %s)", async (stream) => {
    await withResponses(target, async (server) => {
      const calls = ["Paris", "Oslo"].map((city, index) => ({
        id: `call_${index}`,
        name: "weather",
        arguments: JSON.stringify({ city }),
      }));
      const said = stream ? target.stream : target.whole;
      server.upstream.replyOnce(said({ calls }));
      server.upstream.replyOnce(said({ text: "All fine." }));
      const { responses } = clientOf(server);
      const ask = (items: OpenAI.Responses.ResponseInputItem[]) => {
        const body = { model, input: items, tools: [weather], store: false };
        return stream ? responses.stream(body).finalResponse() : responses.create(body);
      };
      const history: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: input }];
      const first = await ask(history);
      const asked = first.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
      expect(asked.map(({ arguments: given }) => JSON.parse(given).city)).toEqual(["Paris", "Oslo"]);
      history.push(...(first.output as OpenAI.Responses.ResponseInputItem[]));
      for (const { call_id } of asked) history.push({ type: "function_call_output", call_id, output: "fine" });
      expect((await ask(history)).output_text).toBe("All fine.");
      const { messages, input: sent } = server.upstream.lastRequest.json;
      if (messages === undefined) {
        expect(sent).toHaveLength(5);
        expect(sent.map(({ call_id: id }: { call_id?: string }) => id)).toEqual([
          undefined,
          "call_0",
          "call_1",
          "call_0",
          "call_1",
        ]);
      } else {
        expect(messages).toMatchObject([
          { role: "user" },
          { role: "assistant", tool_calls: [{ id: "call_0" }, { id: "call_1" }] },
          { role: "tool", tool_call_id: "call_0", content: "fine" },
          { role: "tool", tool_call_id: "call_1", content: "fine" },
        ]);
      }
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39]);
    })();
  });

  it(
    "gets errors with their param",
    withResponses(target, async (server) => {
      const { responses } = clientOf(server);
      const image = [
        {
          role: "user" as const,
          content: [{ type: "input_image" as const, image_url: 7 as never, detail: "low" as const }],
        },
      ];
      await expect(responses.create({ model, input, max_output_tokens: 0 })).rejects.toMatchObject({
        constructor: OpenAI.BadRequestError,
        param: "max_output_tokens",
      });
      await expect(
        responses.create({ model, input: "x", tools: [{ type: "code_interpreter", container: "c" }] }),
      ).rejects.toMatchObject({
        constructor: OpenAI.BadRequestError,
        param: "tools[0].type",
        code: "unsupported_tool",
      });
      await expect(responses.create({ model, input, previous_response_id: "resp_1" })).rejects.toMatchObject({
        constructor: OpenAI.BadRequestError,
        param: "previous_response_id",
      });
      await expect(responses.create({ model: "acme/none", input })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(
        clientOf(server, "sk-basic").responses.create({ model: "acme/large", input }),
      ).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
      await expect(clientOf(server, "sk-wrong").responses.create({ model, input })).rejects.toBeInstanceOf(
        OpenAI.AuthenticationError,
      );
      if (target.operations[0] === "chat/completions") {
        await expect(responses.create({ model, input: image })).rejects.toMatchObject({
          param: "input[0].content[0].image_url",
        });
      }
    }),
  );

  it(
    "fails with a stream that breaks off, raw and through its helper",
    withResponses(target, async (server) => {
      server.upstream.reply(target.stream({ isBroken: true }, { end: "cut" }));
      const { responses } = clientOf(server);
      const raw = async () => collect(await responses.create({ model, input, stream: true }));
      await expect(raw()).rejects.toThrow("broke off");
      await expect(responses.stream({ model, input }).finalResponse()).rejects.toThrow("broke off");
    }),
  );

  it(
    "sees that a response was cut off",
    withResponses(target, async (server) => {
      server.upstream.reply(target.stream({ isCut: true }));
      expect(await clientOf(server).responses.stream({ model, input }).finalResponse()).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
      });
    }),
  );
});
