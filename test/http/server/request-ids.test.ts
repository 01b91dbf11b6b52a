import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatChunks, eventStream, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";

function withHeaders(request: Request, headers: Record<string, string>): Request {
  for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
  return request;
}

async function idOf(given: unknown): Promise<string | null> {
  const test = await startTestGateway({ requestId: () => given as string });
  const response = await test.gateway.handler(chatRequest());
  await response.text();
  expect(test.events.map(({ requestId }) => requestId)).toEqual([response.headers.get("x-request-id")]);
  await test.close();
  return response.headers.get("x-request-id");
}

describe("requestId", () => {
  it("is the id of the response, the event, the provider and the warnings", async () => {
    const ids: string[] = [];
    const test = await startTestGateway({
      requestId: (request) => request.header("x-trace"),
      providers: {
        fake: {
          call: async ({ requestId }) => {
            ids.push(requestId);
            throw new Error("away");
          },
        },
      },
    });
    const response = await test.gateway.handler(withHeaders(chatRequest(), { "x-trace": "host/1:a=b" }));
    expect(response.headers.get("x-request-id")).toBe("host/1:a=b");
    expect([ids, test.events.map(({ requestId }) => requestId)]).toEqual([["host/1:a=b"], ["host/1:a=b"]]);
    expect(test.warnings).toMatchObject([{ code: "upstream_failed", requestId: "host/1:a=b" }]);
    await test.close();
  });

  it("is on refusals, too", async () => {
    const test = await startTestGateway({ requestId: ({ method, path }) => `${method}:${path}` });
    const response = await test.gateway.handler(chatRequest({}, "sk-nobody"));
    expect([response.status, response.headers.get("x-request-id")]).toEqual([401, "POST:/v1/chat/completions"]);
    await test.close();
  });

  it("is that of each refusal, where the same one comes again", async () => {
    const plan = { models: ["*"], credits: { session: 0, week: null, month: null } };
    const test = await startTestGateway({
      plans: memoryPlanStore({ pro: plan }),
      clock: { now: () => 1_700_000_000_000 },
    });
    const messages = [{ role: "user", content: "hi" }];
    const body = JSON.stringify({ model: "acme/small", max_tokens: 9, messages });
    const headers = { "x-api-key": "sk-pro", authorization: "Bearer sk-pro", "content-type": "application/json" };
    for (const path of ["chat/completions", "messages", "chat/completions", "messages"]) {
      const request = new Request(`http://localhost/v1/${path}`, { method: "POST", headers, body });
      const response = await test.gateway.handler(request);
      const id = response.headers.get("x-request-id");
      expect([response.status, id]).toEqual([429, test.events.at(-1)?.requestId]);
      const answer = (await response.json()) as { request_id?: string };
      expect(answer.request_id).toBe(path === "messages" ? id : undefined);
    }
    expect(new Set(test.events.map(({ requestId }) => requestId)).size).toBe(4);
    await test.close();
  });

  it.each([undefined, "", "a b", "a\r\nx: y", "ü", "x".repeat(129), 7, null, "a,b", '"'])(
    "is the gateway's own where the host gives %j",
    async (given) => {
      expect(await idOf(given)).toMatch(/^req_[0-9a-f-]{36}$/);
    },
  );

  it("may be as long as 128 characters", async () => {
    expect(await idOf("x".repeat(128))).toBe("x".repeat(128));
  });

  it.each([
    () => {
      throw new Error("boom");
    },
    async () => Promise.reject(new Error("boom")),
  ])("that fails is a warning", async (requestId) => {
    const test = await startTestGateway({ requestId: requestId as never });
    const response = await test.gateway.handler(chatRequest());
    expect(response.status).toBe(200);
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(test.warnings).toMatchObject([{ code: "hook_failed", cause: new Error("boom") }]);
    await test.close();
  });

  it("that comes twice charges twice, and names no two responses alike", async () => {
    const test = await startTestGateway({ requestId: () => "the-same" });
    const ids: unknown[] = [];
    for (const input of ["One", "Two"]) {
      const request = new Request("http://gateway.test/v1/responses", {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/small", input }),
      });
      const response = await test.gateway.handler(request);
      ids.push(((await response.json()) as { id: string }).id);
    }
    expect(new Set(ids).size).toBe(2);
    const charged = test.events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0);
    const { windows } = await test.gateway.accounts.balance("acct_pro");
    expect([charged > 0, windows.session.usedMicro]).toEqual([true, charged]);
    await test.close();
  });
});

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

async function forwarded(headers: Record<string, string>, options = {}): Promise<unknown[]> {
  const test = await startTestGateway(options);
  await (await test.gateway.handler(withHeaders(chatRequest(), headers))).text();
  const { traceparent, tracestate } = test.upstream.lastRequest.headers;
  await test.close();
  return [traceparent, tracestate];
}

describe("the trace of a request", () => {
  it("goes to the upstream, unless that is switched off", async () => {
    const headers = { traceparent: parent, tracestate: "acme=1,other@sys=a b" };
    expect(await forwarded(headers)).toEqual([parent, "acme=1,other@sys=a b"]);
    expect(await forwarded(headers, { forwardTrace: false })).toEqual([undefined, undefined]);
    expect(await forwarded({ tracestate: "acme=1" })).toEqual([undefined, undefined]);
  });

  it("goes to each target that is tried", async () => {
    const target = { provider: "fake", model: "upstream-small" };
    const several = await startTestGateway({
      models: [
        {
          id: "acme/small",
          type: "chat",
          contextLength: 1000,
          price: { input: 1, output: 1 },
          upstream: [target, { ...target, model: "second" }],
        },
      ],
    });
    several.upstream.replyOnce(wholeAnswer({ error: { message: "Sorry." } }, { status: 500 }));
    several.upstream.reply(eventStream(chatChunks("Hello")));
    await (await several.gateway.handler(withHeaders(chatRequest({ stream: true }), { traceparent: parent }))).text();
    expect(several.upstream.requests.map(({ headers }) => headers["traceparent"])).toEqual([parent, parent]);
    await several.close();
  });

  it.each([
    parent.toUpperCase(),
    `${parent}-more`,
    `ff${parent.slice(2)}`,
    parent.replace("b7ad6b7169203331", "0".repeat(16)),
    parent.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)),
    `${parent}, ${parent}`,
    "00-1-1-01",
    `01${parent.slice(2)}-${"x".repeat(300)}`,
  ])("is not forwarded where it is %s", async (traceparent) => {
    expect(await forwarded({ traceparent, tracestate: "acme=1" })).toEqual([undefined, undefined]);
  });

  it("may be of a later version", async () => {
    const later = `01${parent.slice(2)}-more`;
    expect(await forwarded({ traceparent: later })).toEqual([later, undefined]);
  });

  it.each(["acme", "=1", "Acme=1", "acme=1=2", Array.from({ length: 33 }, (_, index) => `a${index}=1`).join(",")])(
    "comes without a state of %s",
    async (tracestate) => {
      expect(await forwarded({ traceparent: parent, tracestate })).toEqual([parent, undefined]);
    },
  );

  it("is forwarded whatever its parts are", async () => {
    const hex = (length: number) =>
      fc
        .array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
        .map((digits) => digits.join(""))
        .filter((text) => /[^0]/.test(text));
    const test = await startTestGateway();
    await fc.assert(
      fc.asyncProperty(hex(32), hex(16), hex(2), async (trace, span, flags) => {
        const traceparent = `00-${trace}-${span}-${flags}`;
        await (await test.gateway.handler(withHeaders(chatRequest(), { traceparent }))).text();
        expect(test.upstream.lastRequest.headers["traceparent"]).toBe(traceparent);
      }),
      { numRuns: 20 },
    );
    await test.close();
  });
});
