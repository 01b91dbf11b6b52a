import { describe, expect, it } from "vitest";
import { chatAnswer, errorBody, wholeAnswer } from "../../../../src/testing.js";
import {
  bothServers,
  chatServer,
  nativeResponse,
  nativeServer,
} from "../../../support/operations/responses/response-samples.js";
import { refusalOf, requestText, withResponses } from "../../../support/operations/responses/responses-server.js";

const ownId = /^resp_[0-9a-f]{32}$/;

describe.each(bothServers)("a whole response of $name", (target) => {
  it(
    "has an id of its own, the client's model and all that clients read, and is charged as counted",
    withResponses(target, async (server) => {
      const response = await server.post();
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "application/json",
        "x-ratelimit-limit-session": "100",
        "x-ratelimit-remaining-session": "99",
        "x-ratelimit-remaining-month": "1499",
        "x-request-id": expect.stringMatching(/^req_/),
      });
      expect(await response.json()).toMatchObject({
        id: expect.stringMatching(ownId),
        object: "response",
        status: "completed",
        error: null,
        incomplete_details: null,
        model: "acme/small",
        output: [
          {
            id: expect.stringMatching(/^msg_/),
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "Hello world", annotations: [], logprobs: [] }],
          },
        ],
        previous_response_id: null,
        store: true,
        usage: {
          input_tokens: 9,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 3,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 12,
        },
      });
      expect(server.upstream.lastRequest.url).toBe(target.path);
      expect(server.upstream.lastRequest.headers.authorization).toBe("Bearer sk-upstream-secret");
      // 9 tokens of input at 1 micro-credit, 3 of output at 10.
      expect(server.events).toMatchObject([
        {
          endpoint: "responses",
          status: 200,
          stream: false,
          endReason: "completed",
          usageSource: "provider",
          chargedMicro: 39,
          tokens: { input: 9, cachedInput: 0, output: 3, reasoning: 0 },
          keyId: "key_pro",
          account: "acct_pro",
          plan: "pro",
          model: "acme/small",
        },
      ]);
    }),
  );

  it(
    "that was not counted is charged by an estimate, which the client gets as its usage",
    withResponses(target, async (server) => {
      server.upstream.reply(target.whole({ text: "123456", isUncounted: true }));
      const { usage } = (await (await server.post()).json()) as { usage: Record<string, number> };
      const { input_tokens: input = 0, output_tokens: output = 0, total_tokens: total } = usage;
      expect(input).toBeGreaterThan(3);
      expect(output).toBeGreaterThan(1);
      expect(total).toBe(input + output);
      expect(usage).toMatchObject({
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      });
      expect(server.events).toMatchObject([{ usageSource: "estimated", chargedMicro: input + 10 * output }]);
    }),
  );

  it(
    "that was cut off says so",
    withResponses(target, async (server) => {
      server.upstream.reply(target.whole({ isCut: true }));
      expect(await (await server.post()).json()).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        output: [{ status: "incomplete" }],
      });
    }),
  );

  it(
    "has its output cap cut down to what the model can do",
    withResponses(target, async (server) => {
      const cap = target === nativeServer ? "max_output_tokens" : "max_completion_tokens";
      for (const [asked, sent] of [
        [5000, 1000],
        [10, 10],
      ]) {
        await server.post({ max_output_tokens: asked });
        expect(server.upstream.lastRequest.json).toMatchObject({ [cap]: sent });
      }
      await server.post();
      expect(server.upstream.lastRequest.json).not.toHaveProperty(cap);
    }),
  );

  it(
    "costs nothing when the upstream breaks off, and what was held is given back",
    withResponses(target, async (server) => {
      server.upstream.reply((_request, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        response.write('{"id":"resp_1","output":[');
        setImmediate(() => response.destroy());
      });
      const response = await server.post();
      expect(response.headers.get("x-ratelimit-remaining-session")).toBe("100");
      expect(await refusalOf(response)).toMatchObject({ status: 502, type: "server_error", code: "bad_gateway" });
      expect(server.events).toMatchObject([{ endReason: "upstream_failed", chargedMicro: 0, endpoint: "responses" }]);
    }),
  );

  it(
    "may begin with a byte order mark",
    withResponses(target, async (server) => {
      const sample = target === nativeServer ? nativeResponse() : chatAnswer();
      server.upstream.reply(wholeAnswer(`\ufeff${JSON.stringify(sample)}`));
      expect(await (await server.post()).json()).toMatchObject({ output: [{ content: [{ text: "Hello world" }] }] });
    }),
  );

  it.each(["<h1>Hello</h1>", "{}", "[]", '{"object":"list","data":[]}', "null", '"resp"'])(
    "is none: %s",
    async (body) => {
      await withResponses(target, async (server) => {
        server.upstream.reply(wholeAnswer(body));
        expect(await refusalOf(await server.post())).toMatchObject({ status: 502, code: "bad_gateway" });
        expect(server.events).toMatchObject([{ chargedMicro: 0 }]);
      })();
    },
  );

  it(
    "is refused by its upstream: the fault is the client's, in words that give nothing away",
    withResponses(target, async (server) => {
      const said = "Unsupported value 'x' for upstream-small at http://10.0.0.7:8000 with sk-upstream-secret.";
      server.upstream.reply(
        wholeAnswer(errorBody(said, { param: "temperature", code: "unsupported_value" }), { status: 400 }),
      );
      const refusal = await refusalOf(await server.post({ temperature: 9 }));
      expect(refusal).toMatchObject({ status: 400, param: "temperature", code: "unsupported_value" });
      expect(refusal.message).not.toMatch(/upstream|10\.0|sk-/);
      expect(server.events).toMatchObject([{ chargedMicro: 0, status: 400 }]);
    }),
  );

  it.each([
    [401, 502, "bad_gateway"],
    [429, 429, "rate_limit_exceeded"],
    [500, 502, "bad_gateway"],
    [503, 502, "bad_gateway"],
  ])("that is a %i of the upstream's is a %i", async (status, expected, code) => {
    await withResponses(target, async (server) => {
      const body = errorBody("Key sk-upstream-secret of org-123 at /srv/app.py failed.", {
        code: "rate_limit_exceeded",
      });
      server.upstream.reply(wholeAnswer(body, { status }));
      const refusal = await refusalOf(await server.post());
      expect(refusal.status).toBe(expected);
      if (code !== undefined) expect(refusal.code).toBe(code);
      expect(refusal.message).not.toMatch(/sk-upstream|org-123|srv/);
      expect(server.events).toMatchObject([{ chargedMicro: 0 }]);
    })();
  });
});

describe("a native target", () => {
  it(
    "gets the client's own bytes but for the model and what must not be kept there",
    withResponses(nativeServer, async (server) => {
      const rest =
        '"input": "h\\u00e9", "temperature": 1.0, "future": {"a":[1e2,12345678901234567890]}, "metadata":{"k":"v"}';
      expect((await server.post(`{ "model": "acme/small", ${rest} }`)).status).toBe(200);
      expect(server.upstream.lastRequest.body.toString()).toBe(`{"store":false,"model": "upstream-small", ${rest}}`);
      await server.post(requestText({ store: true }));
      expect(server.upstream.lastRequest.json).toMatchObject({ store: false });
    }),
  );

  it(
    "gives its own bytes but for what is the gateway's",
    withResponses(nativeServer, async (server) => {
      const text = JSON.stringify(nativeResponse()).replace("[1.5]", "[1.50, 12345678901234567890]");
      server.upstream.reply(wholeAnswer(text, { headers: { "content-type": "application/json" } }));
      const received = await (await server.post({ store: false })).text();
      const id = /"id":"(resp_[0-9a-f]+)"/.exec(received)?.[1];
      expect(received).toBe(text.replace("resp_upstream", id ?? "").replace("upstream-small-2026-01-01", "acme/small"));
    }),
  );

  it.each(["failed", "cancelled"])("that sends one that has %s as a success fails", async (status) => {
    await withResponses(nativeServer, async (server) => {
      const error = status === "failed" ? { code: "server_error", message: "Out of memory at 10.0.0.7" } : null;
      server.upstream.reply(wholeAnswer({ ...nativeResponse(), status, error, output: [] }));
      const refusal = await refusalOf(await server.post());
      expect(refusal.status).toBe(502);
      expect(refusal.message).not.toContain("10.0.0.7");
      expect(server.events).toMatchObject([{ chargedMicro: 0, endReason: "upstream_failed" }]);
    })();
  });
});

describe("a chat completions target", () => {
  it(
    "gets the request in its own words",
    withResponses(chatServer, async (server) => {
      const call = { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Rome"}' };
      await server.post({
        instructions: "Be brief.",
        input: [
          { role: "user", content: [{ type: "input_text", text: "Weather?" }] },
          { ...call, id: "fc_1" },
          { ...call, id: "fc_2", call_id: "call_2" },
          { type: "function_call_output", call_id: "call_1", output: "fine" },
          { type: "function_call_output", call_id: "call_2", output: "rain" },
        ],
        tools: [{ type: "function", name: "weather", parameters: { type: "object" }, strict: true }],
        text: { format: { type: "json_schema", name: "out", schema: { type: "object" }, strict: true } },
        max_output_tokens: 50,
        store: true,
      });
      const chatCall = { type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };
      expect(server.upstream.lastRequest.json).toEqual({
        model: "upstream-small",
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Weather?" },
          {
            role: "assistant",
            content: null,
            tool_calls: [
              { ...chatCall, id: "call_1" },
              { ...chatCall, id: "call_2" },
            ],
          },
          { role: "tool", tool_call_id: "call_1", content: "fine" },
          { role: "tool", tool_call_id: "call_2", content: "rain" },
        ],
        tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" }, strict: true } }],
        response_format: {
          type: "json_schema",
          json_schema: { name: "out", schema: { type: "object" }, strict: true },
        },
        max_completion_tokens: 50,
      });
    }),
  );

  it(
    "gives calls, which are items of their own",
    withResponses(chatServer, async (server) => {
      server.upstream.reply(chatServer.whole({ calls: [{ id: "call_1", name: "weather", arguments: "{}" }] }));
      expect(await (await server.post({ tools: [{ type: "function", name: "weather" }] })).json()).toMatchObject({
        output: [{ type: "function_call", call_id: "call_1", name: "weather", arguments: "{}", status: "completed" }],
      });
    }),
  );
});
