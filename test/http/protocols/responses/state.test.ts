import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { KeptResponse, ResponseStore } from "../../../../src/responses/response-store.js";
import { memoryResponseStore } from "../../../../src/stores/memory/memory-response-store.js";
import { chatAnswer, createGate, wholeAnswer } from "../../../../src/testing.js";
import {
  bothServers,
  chatServer,
  honest,
  nativeResponse,
  nativeServer,
} from "../../../support/operations/responses/response-samples.js";
import {
  parseEvents,
  type ResponsesServer,
  refusalOf,
  startResponses,
  withResponses,
} from "../../../support/operations/responses/responses-server.js";
import { startTestGateway } from "../../../support/test-gateway.js";

const headersOf = (key: string) => ({ authorization: `Bearer ${key}` });

function get({ baseURL }: ResponsesServer, path: string, { key = "sk-pro", method = "GET" } = {}): Promise<Response> {
  return fetch(`${baseURL}/responses/${path}`, { method, headers: headersOf(key) });
}

interface Kept {
  id: string;
  store: boolean;
  output: { id: string }[];
}

async function respond(server: ResponsesServer, members: Record<string, unknown> = {}): Promise<Kept> {
  const response = await server.post(members);
  expect(response.status).toBe(200);
  return (await response.json()) as Kept;
}

/** What the upstream got of a conversation, whichever API it speaks. */
function textsOf(server: ResponsesServer): string {
  const { messages, input } = server.upstream.lastRequest.json;
  return JSON.stringify(messages ?? input);
}

describe.each(bothServers)("the state of responses of $name", (target) => {
  it(
    "is there as soon as a client reads the event that ends a stream",
    withResponses(target, async (server) => {
      const response = await server.post({ stream: true });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes("event: response.completed")) text += (await reader?.read())?.value ?? "";
      const id = /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1] ?? "";
      expect((await get(server, id)).status).toBe(200);
      await reader?.cancel();
      const again = await server.post({ input: "More.", previous_response_id: id });
      expect(again.status).toBe(200);
      await again.text();
      expect(textsOf(server)).toMatch(/Say hello\..*Hello world.*More\./);
      expect(server.events[0]).toMatchObject({ endReason: "completed", usageSource: "provider" });
    }),
  );

  it(
    "is nobody else's, by whatever way",
    withResponses(target, async (server) => {
      const { id, output } = await respond(server);
      for (const [path, method] of [
        [id, "GET"],
        [`${id}/input_items`, "GET"],
        [id, "DELETE"],
      ] as const) {
        const refusal = await refusalOf(await get(server, path, { key: "sk-basic", method }));
        expect(refusal).toMatchObject({ status: 404, code: "not_found", type: "invalid_request_error" });
        expect(await refusalOf(await get(server, path.replace(id, "resp_none"), { method }))).toMatchObject({
          status: 404,
          message: refusal.message.replace(id, "resp_none"),
        });
      }
      const reference = { type: "item_reference", id: output[0]?.id };
      expect(await refusalOf(await server.post({ input: [reference] }, { key: "sk-basic" }))).toMatchObject({
        code: "item_not_found",
        param: "input[0].id",
      });
      expect(await refusalOf(await server.post({ previous_response_id: id }, { key: "sk-basic" }))).toMatchObject({
        code: "previous_response_not_found",
      });
      // Another key of the same account reaches it.
      expect((await get(server, id, { key: "sk-narrow" })).status).toBe(200);
      for (const key of ["", "sk-wrong"]) expect((await get(server, id, { key })).status).toBe(401);
      expect(server.upstream.requests).toHaveLength(1);
    }),
  );

  it(
    "holds what was referred to, for whoever goes on from there",
    withResponses(target, async (server) => {
      const first = await respond(server);
      const reference = { type: "item_reference", id: first.output[0]?.id };
      const second = await respond(server, { input: [reference, { role: "user", content: "Again?" }] });
      const third = await respond(server, { input: "And now?", previous_response_id: second.id });
      expect(textsOf(server)).toMatch(/Hello world.*Again\?.*Hello world.*And now\?/);
      expect(await (await get(server, `${third.id}/input_items`)).json()).toMatchObject({
        object: "list",
        has_more: false,
        data: [{ content: "And now?" }],
      });
    }),
  );

  it(
    "says the truth of what is kept",
    withResponses(target, async (server) => {
      for (const store of [true, false]) {
        const { id, store: said } = await respond(server, { store });
        expect(said).toBe(store);
        expect((await get(server, id)).status).toBe(store ? 200 : 404);
        const events = parseEvents(await (await server.post({ store, stream: true })).text());
        const { response } = (events.at(-1)?.data ?? {}) as { response?: Kept };
        expect(response?.store).toBe(store);
        expect((await get(server, response?.id ?? "")).status).toBe(store ? 200 : 404);
      }
      server.upstream.reply(target.stream({ isBroken: true }, { end: "cut" }));
      const broken = parseEvents(await (await server.post({ stream: true })).text()).at(-1)?.data;
      const { response } = broken as unknown as { response: Kept };
      expect(response).toMatchObject({ status: "failed", store: false });
      expect((await get(server, response.id)).status).toBe(404);
    }),
  );

  it(
    "is none where the gateway keeps nothing, and every refusal says so",
    withResponses(
      target,
      async (server) => {
        const { id, output, store } = await respond(server, { store: true });
        expect(store).toBe(false);
        const expected = { message: expect.stringContaining("This server keeps no responses.") };
        for (const [path, method] of [
          [id, "GET"],
          [`${id}/input_items`, "GET"],
          [id, "DELETE"],
        ] as const) {
          expect(await refusalOf(await get(server, path, { method }))).toMatchObject({ status: 404, ...expected });
        }
        const reference = { type: "item_reference", id: output[0]?.id };
        const input = [{ role: "user", content: "Hm" }, reference];
        expect(await refusalOf(await server.post({ input }))).toMatchObject({
          status: 400,
          code: "item_not_found",
          param: "input[1].id",
          ...expected,
        });
        expect(await refusalOf(await server.post({ previous_response_id: id }))).toMatchObject({
          status: 400,
          code: "previous_response_not_found",
          param: "previous_response_id",
          ...expected,
        });
      },
      { responses: false },
    ),
  );
});

it.each(bothServers)(
  "a call of $name under way brings back nothing of an account that is forgotten",
  async (target) => {
    const responses = memoryResponseStore();
    const gate = createGate();
    const server = await startResponses(target, { responses });
    server.upstream.replyOnce(async (request, response) => {
      await gate.pass();
      await target.whole()(request, response);
    });
    const under = respond(server);
    await server.upstream.nextRequest();
    await server.gateway.accounts.forget("acct_pro");
    gate.open();
    expect(await responses.find("acct_pro", (await under).id)).toBeUndefined();
    // Whoever has the account's name after that has responses of their own.
    const { secret: key } = await server.gateway.keys.create({ account: "acct_pro", plan: "pro" });
    const later = (await (await server.post({}, { key })).json()) as Kept;
    expect(await responses.find("acct_pro", later.id)).toBeDefined();
    await server.close();
  },
);

it("many references to one large item are refused before they fill the memory", async () => {
  await withResponses(
    chatServer,
    async (server) => {
      server.upstream.reply(chatServer.whole({ text: "x".repeat(400_000) }));
      const { output } = await respond(server);
      const before = process.memoryUsage().arrayBuffers;
      const input = new Array(4000).fill({ type: "item_reference", id: output[0]?.id });
      expect(await refusalOf(await server.post({ input }))).toMatchObject({ status: 400, param: "input" });
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
    },
    { maxBodyBytes: 2 ** 20 },
  )();
});

it("a conversation that goes on from itself is refused when it is longer than a body may be", async () => {
  await withResponses(
    chatServer,
    async (server) => {
      server.upstream.reply(chatServer.whole({ text: "x".repeat(20_000) }));
      let previous: string | undefined;
      let turns = 0;
      for (;;) {
        const response = await server.post(previous === undefined ? {} : { previous_response_id: previous });
        if (response.status !== 200) {
          expect(await refusalOf(response)).toMatchObject({ status: 400, param: "previous_response_id" });
          break;
        }
        ({ id: previous } = (await response.json()) as Kept);
        turns++;
      }
      expect(turns).toBeGreaterThan(2);
      expect(turns).toBeLessThan(6);
    },
    { maxBodyBytes: 100_000 },
  )();
});

it("what is kept stays byte for byte, and goes upstream without ids that the server does not know", async () => {
  await withResponses(nativeServer, async (server) => {
    const call = '{"type":"function_call","call_id":"c","name":"get","arguments":"{}","big":12345678901234567890}';
    const output = nativeResponse().output;
    const body = JSON.stringify({ ...nativeResponse(), output: [] }).replace('"output":[]', `"output":[${call}]`);
    server.upstream.replyOnce(wholeAnswer(body, { headers: { "content-type": "application/json" } }));
    const first = await server.post(
      '{"model":"acme/small","input":[{"role":"user", "content":"\\u0000\\ud800", "n":1.0}]}',
    );
    const { id } = (await first.json()) as Kept;
    const items = await (await get(server, `${id}/input_items`)).text();
    expect(items).toContain('"role":"user", "content":"\\u0000\\ud800", "n":1.0}');
    await (await server.post({ previous_response_id: id, input: "Go on." })).text();
    expect(server.upstream.lastRequest.body.toString()).toContain(
      `"input":[{"role":"user", "content":"\\u0000\\ud800", "n":1.0},${call},{"type":"message","role":"user","content":"Go on."}]`,
    );
    expect(output).toHaveLength(1);
  })();
});

describe("a store that does not do what it should", () => {
  const kept = memoryResponseStore();
  const hanging: ResponseStore = { ...kept, put: () => new Promise(() => {}), find: () => new Promise(() => {}) };
  const throwing = {
    ...kept,
    put: () => {
      throw new Error("no disk at 10.0.0.7");
    },
    find: () => {
      throw new Error("no disk at 10.0.0.7");
    },
    findChain: () => Promise.reject(new Error("no disk at 10.0.0.7")),
    findItems: () => Promise.reject(new Error("no disk at 10.0.0.7")),
    delete: () => Promise.reject(new Error("no disk at 10.0.0.7")),
  } as ResponseStore;

  it.each(bothServers)("hangs: $name is answered all the same, though later", async (target) => {
    await withResponses(
      target,
      async (server) => {
        const { id } = await respond(server);
        const events = parseEvents(await (await server.post({ stream: true })).text());
        expect(events.at(-1)?.data.type).toBe("response.completed");
        expect(await refusalOf(await get(server, id))).toMatchObject({ status: 503, code: "service_unavailable" });
        const codes = server.warnings.map(({ code }) => code);
        expect(codes).toEqual(new Array(3).fill("response_store_failed"));
      },
      { responses: hanging, storeTimeoutMs: 50 },
    )();
  });

  it.each(bothServers)("fails at once: $name is answered all the same", async (target) => {
    await withResponses(
      target,
      async (server) => {
        const { id } = await respond(server);
        for (const response of [
          await get(server, id),
          await get(server, `${id}/input_items`),
          await get(server, id, { method: "DELETE" }),
          await server.post({ previous_response_id: id }),
          await server.post({ input: [{ type: "item_reference", id: "msg_1" }] }),
        ]) {
          expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
          const refusal = await refusalOf(response);
          expect(refusal).toMatchObject({ status: 503, code: "service_unavailable" });
          expect(refusal.message).not.toContain("10.0.0.7");
        }
        expect(server.upstream.requests).toHaveLength(1);
        const codes = server.warnings.map(({ code }) => code);
        expect(codes).toEqual(new Array(6).fill("response_store_failed"));
      },
      { responses: throwing },
    )();
  });

  it.each(bothServers)("is slow: $name does not say before it that a response is complete", async (target) => {
    const gate = createGate();
    const slow: ResponseStore = { ...kept, put: () => gate.pass() };
    await withResponses(
      target,
      async (server) => {
        const response = await server.post({ stream: true });
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        while (!text.includes("event: response.output_item.done")) text += (await reader?.read())?.value ?? "";
        // Its call is settled, and what has come since would be here.
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
        const next = reader?.read();
        expect(text).not.toContain("event: response.completed");
        expect((await server.gateway.accounts.balance("acct_pro")).windows.session).toMatchObject({
          heldMicro: 0,
          usedMicro: 39,
        });
        gate.open();
        expect((await next)?.value).toContain("event: response.completed");
        await reader?.cancel();
      },
      { responses: slow },
    )();
  });

  it("is waited for when the gateway closes, so that its database may go after that", async () => {
    const gate = createGate();
    const puts: KeptResponse[] = [];
    let begun = () => {};
    const isPut = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow: ResponseStore = {
      ...kept,
      put: async (response) => {
        begun();
        await gate.pass();
        puts.push(response);
      },
    };
    await withResponses(
      chatServer,
      async (server) => {
        const response = respond(server);
        await isPut;
        let isClosed = false;
        const closing = server.gateway.close().then(() => {
          isClosed = true;
        });
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        expect(isClosed).toBe(false);
        gate.open();
        await closing;
        expect(puts).toHaveLength(1);
        expect((await response).store).toBe(true);
      },
      { responses: slow },
    )();
  });
});

it("the time of the end is the gateway's, as that of the beginning is", async () => {
  const test = await startTestGateway({ clock: { now: () => Date.UTC(2026, 0, 1) } });
  const client = new OpenAI({
    apiKey: "sk-pro",
    baseURL: "http://gateway.test/v1",
    maxRetries: 0,
    fetch: (url, init) => test.gateway.handler(new Request(url, init)),
  });
  test.upstream.reply(honest(chatServer));
  const whole = await client.responses.create({ model: "acme/small", input: "Hi" });
  const streamed = await client.responses.stream({ model: "acme/small", input: "Hi" }).finalResponse();
  for (const each of [whole, streamed]) {
    expect(each).toMatchObject({ created_at: 1_767_225_600, completed_at: 1_767_225_600 });
  }
  await test.close();
});

it(
  "thoughts that a client refers to, or sends back as text, go to the server that wants them with its calls",
  withResponses(chatServer, async (server) => {
    const message = {
      role: "assistant",
      content: null,
      reasoning_content: "Hm.",
      tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: "{}" } }],
    };
    const { choices, ...answer } = chatAnswer();
    server.upstream.reply(
      wholeAnswer({ ...answer, choices: [{ ...choices[0], message, finish_reason: "tool_calls" }] }),
    );
    const { id, output } = await respond(server);
    server.upstream.reply(chatServer.whole());
    const result = { type: "function_call_output", call_id: "call_1", output: "3" };
    const [thought, call] = output;
    for (const members of [
      { previous_response_id: id, input: [result] },
      { input: [{ type: "item_reference", id: thought?.id }, call, result] },
      { input: [thought, call, result] },
    ]) {
      await respond(server, members);
      const { messages } = server.upstream.lastRequest.json as { messages: { role: string }[] };
      expect(messages.find(({ role }) => role === "assistant")).toEqual(message);
    }
  }),
);
