import { describe, expect, it } from "vitest";
import type { UpstreamCall } from "../../../../src/providers/upstream-provider.js";
import { chatAnswer, errorBody, wholeAnswer } from "../../../../src/testing.js";
import { smallModel } from "../../../support/test-gateway.js";
import { post, startHookedGateway } from "./start-hooked-gateway.js";

const chat = { model: "acme/small", messages: [{ role: "user", content: "my card is 4111" }] };

/** What a client of each protocol sends to say one text. */
const requests: Readonly<Record<string, (model: string, text: string) => object>> = {
  "chat/completions": (model, content) => ({ model, messages: [{ role: "user", content }] }),
  responses: (model, input) => ({ model, input, store: false }),
  messages: (model, content) => ({ model, max_tokens: 9, messages: [{ role: "user", content }] }),
};

describe("tags of onRequest", () => {
  it("reach the event and the journal, and what usage is summed by", async () => {
    const { gateway, events } = await startHookedGateway(({ header }) => ({
      tags: { feature: header("x-feature") ?? "none", team: "red" },
    }));
    await gateway.handler(post("chat/completions", chat));
    await gateway.handler(post("messages", { ...chat, max_tokens: 9 }));
    expect(events.map(({ tags }) => tags)).toEqual([
      { feature: "search", team: "red" },
      { feature: "search", team: "red" },
    ]);
    const { entries } = await gateway.accounts.history("acct_pro");
    expect(entries[0]?.tags).toMatchObject({ keyId: "key_pro", model: "acme/small", "tag.feature": "search" });
    const sums = await gateway.accounts.usage("acct_pro", { by: ["feature", "key"] });
    expect(sums).toEqual([
      {
        by: { feature: "search", key: "key_pro" },
        requests: 2,
        chargedMicro: 84,
        tokens: { input: 24, cachedInput: 0, output: 6, reasoning: 0 },
      },
    ]);
  });

  it("may be those of some calls only: usage of the others has none", async () => {
    const { gateway } = await startHookedGateway(({ endpoint }) =>
      endpoint === "messages" ? { tags: { constructor: "red" } } : undefined,
    );
    await gateway.handler(post("chat/completions", chat));
    await gateway.handler(post("messages", { ...chat, max_tokens: 9 }));
    const sums = await gateway.accounts.usage("acct_pro", { by: ["constructor"] });
    expect(sums.map(({ by, requests }) => [by, requests])).toEqual([
      [{ constructor: null }, 1],
      [{ constructor: "red" }, 1],
    ]);
    for (const by of [[], ["day", "day"], ["a b"]]) {
      await expect(gateway.accounts.usage("acct_pro", { by })).rejects.toThrow(TypeError);
    }
  });

  it("come before those of gateway.as(), which the hook sees", async () => {
    const seen: unknown[] = [];
    const { gateway, events } = await startHookedGateway(({ tags }) => {
      seen.push(tags);
      return { tags: { team: "blue" } };
    });
    const as = gateway.as({ account: "acct_pro", plan: "pro", anchor: null, tags: { team: "red", job: "nightly" } });
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    await as.fetch(`${as.baseURL}/chat/completions`, { ...init, body: JSON.stringify(chat) });
    await as.fetch(`${as.baseURL}/chat/completions`, { ...init, body: JSON.stringify({ ...chat, model: "none" }) });
    expect(seen).toEqual([{ team: "red", job: "nightly" }]);
    expect(events.map(({ tags }) => tags)).toEqual([
      { team: "blue", job: "nightly" },
      { team: "red", job: "nightly" },
    ]);
    expect(() => gateway.as({ account: "a", tags: { day: "x" } })).toThrow("tags");
  });

  it("reach the provider, with the account and the key", async () => {
    const calls: UpstreamCall[] = [];
    const body = async function* () {
      yield Buffer.from(JSON.stringify(chatAnswer({ content: "Hello" })));
    };
    const own = {
      call: async (call: UpstreamCall) => {
        calls.push(call);
        return { status: 200, headers: { "content-type": "application/json" }, body: body() };
      },
    };
    const { gateway } = await startHookedGateway(() => ({ tags: { team: "red" } }), {
      models: [{ ...smallModel, upstream: { provider: "own", model: "upstream-own" } }],
      providers: { own },
    });
    expect((await gateway.handler(post("chat/completions", chat))).status).toBe(200);
    expect(calls).toMatchObject([{ account: "acct_pro", keyId: "key_pro", tags: { team: "red" } }]);
  });
});

describe("upstream of onRequest", () => {
  const upstream = {
    headers: { "X-Tenant": "t1", "user-agent": "ours" },
    set: { safety_identifier: "u1", metadata: { user_id: "u1" }, temperature: null },
  };

  it.each(Object.keys(requests).flatMap((path) => Object.keys(requests).map((api) => [path, api] as const)))(
    "goes from a client of %s to a server of %s, in that server's words",
    async (path, api) => {
      const { gateway, server } = await startHookedGateway(() => ({ upstream }));
      const provider = api === "chat/completions" ? "chat" : api;
      // That server speaks chat completions, too, which is nearer to other clients.
      const reached = api === "responses" && path !== "responses" ? "chat/completions" : api;
      const response = await gateway.handler(post(path, requests[path]?.(`acme/${provider}`, "Hi") ?? {}));
      expect([response.status, server.requests.length]).toEqual([200, 1]);
      const { headers, json, url } = server.lastRequest;
      expect(url).toBe(`/v1/${reached}`);
      expect(headers).toMatchObject({ "x-tenant": "t1", "user-agent": "ours" });
      expect(json).toMatchObject({ ...upstream.set, model: "upstream-small" });
      expect(JSON.stringify(json)).toContain('"Hi"');
    },
  );

  it("goes to every target that is tried, and leaves the key alone", async () => {
    const { gateway, server } = await startHookedGateway(() => ({ upstream }), {
      models: [
        {
          ...smallModel,
          upstream: [
            { provider: "fake", model: "one" },
            { provider: "fake", model: "two" },
          ],
        },
      ],
    });
    server.replyOnce(wholeAnswer(errorBody("down"), { status: 500 }));
    expect((await gateway.handler(post("chat/completions", chat))).status).toBe(200);
    expect(server.requests.map(({ json }) => json.model)).toEqual(["one", "two"]);
    for (const { headers, json } of server.requests) {
      expect(headers).toMatchObject({ "x-tenant": "t1", authorization: "Bearer sk-upstream-secret" });
      expect(json.metadata).toEqual({ user_id: "u1" });
    }
  });

  it("shows no value of its headers in an upstream's error", async () => {
    const { gateway, server } = await startHookedGateway(() => ({
      upstream: { headers: { "x-a": "private-tenant-7" } },
    }));
    server.reply(wholeAnswer(errorBody("bad private-tenant-7"), { status: 400 }));
    expect(await (await gateway.handler(post("chat/completions", chat))).text()).not.toContain("private-tenant-7");
  });
});

describe("texts of onRequest", () => {
  it.each(Object.keys(requests).flatMap((path) => Object.keys(requests).map((api) => [path, api] as const)))(
    "are what a server of %2$s gets from a client of %1$s",
    async (path, api) => {
      const { gateway, server } = await startHookedGateway(({ texts }) => ({
        texts: texts().map(({ path: at, text }) => ({ path: at, text: text.replace(/\d{4}/, "[card]") })),
      }));
      const provider = api === "chat/completions" ? "chat" : api;
      const response = await gateway.handler(
        post(path, requests[path]?.(`acme/${provider}`, "My card is 4111.") ?? {}),
      );
      expect(response.status).toBe(200);
      expect(server.lastRequest.body.toString()).toContain("My card is [card].");
      expect(server.lastRequest.body.toString()).not.toContain("4111");
    },
  );

  it("leave every other byte as it was", async () => {
    const { gateway, server } = await startHookedGateway(() => ({
      texts: [{ path: "messages[0].content", text: 'new "one" \ud83d' }],
    }));
    const before = '{ "seed": 12345678901234567890, "messages":[{"role":"user",\n"content": "\\u006fld"}, ';
    const after = '{"role":"user","content":"\\u00e9"}],"model":"acme/small" , "x":1.0e2}';
    await gateway.handler(post("chat/completions", before + after));
    const withText = (text: string) => (before + after).replace('"\\u006fld"', () => text);
    expect(server.lastRequest.body.toString()).toBe(
      withText('"new \\"one\\" \\ud83d"').replace("acme/small", "upstream-small"),
    );
  });

  it("are what is estimated, held and charged for", async () => {
    const long = "word ".repeat(2000);
    const holds: number[] = [];
    const { gateway, server, events, ledger } = await startHookedGateway(() => ({
      texts: [{ path: "messages[0].content", text: "short" }],
    }));
    const { reserve } = ledger;
    ledger.reserve = (request) => {
      holds.push(request.amountMicro);
      return reserve.call(ledger, request);
    };
    server.reply(wholeAnswer(chatAnswer({ content: "Hello", usage: null })));
    await gateway.handler(post("chat/completions", { ...chat, messages: [{ role: "user", content: long }] }));
    await gateway.handler(post("chat/completions", { ...chat, messages: [{ role: "user", content: "short" }] }));
    expect(holds[0]).toBe(holds[1]);
    expect(events[0]?.tokens.input).toBe(events[1]?.tokens.input);
  });

  it("are refused as the client's where the model cannot take them", async () => {
    const { gateway, warnings } = await startHookedGateway(() => ({
      texts: [{ path: "messages[0].content", text: "word ".repeat(400_000) }],
    }));
    const response = await gateway.handler(post("chat/completions", chat));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
    expect(warnings).toEqual([]);
  });

  it("are what is kept of a response's input, and sent again with the next one", async () => {
    const { gateway, server } = await startHookedGateway(({ texts }) => ({
      texts: texts().map(({ path, text }) => ({ path, text: text.replace("4111", "[card]") })),
    }));
    const first = await gateway.handler(post("responses", { model: "acme/chat", input: "my card is 4111" }));
    const { id } = (await first.json()) as { id: string };
    const next = { model: "acme/chat", input: "and now?", previous_response_id: id };
    expect((await gateway.handler(post("responses", next))).status).toBe(200);
    expect(server.lastRequest.body.toString()).toContain("my card is [card]");
    expect(server.lastRequest.body.toString()).not.toContain("4111");
  });

  it("change wherever one member stands twice, so that no server reads the old one", async () => {
    const { gateway, server } = await startHookedGateway(({ texts }) => {
      expect(texts().map(({ path, text }) => [path, text])).toEqual([
        ["messages[0].refusal", "a"],
        ["messages[0].refusal", "b"],
      ]);
      return { texts: [{ path: "messages[0].refusal", text: "c" }] };
    });
    const twice = '{"model":"acme/small","messages":[{"role":"assistant","refusal":"a","refusal":"b"}]}';
    expect((await gateway.handler(post("chat/completions", twice))).status).toBe(200);
    expect(server.lastRequest.body.toString()).toBe(
      '{"model":"upstream-small","messages":[{"role":"assistant","refusal":"c","refusal":"c"}]}',
    );
  });

  it("are looked for only where the hook asks for them", async () => {
    let isAsked = false;
    const { gateway, warnings } = await startHookedGateway(({ texts }) => {
      if (isAsked) texts();
    });
    const call = { type: "tool_use", id: "t1", name: "f", input: { x: Array.from({ length: 65_537 }, () => "") } };
    const result = { type: "tool_result", tool_use_id: "t1", content: "ok" };
    const messages = [
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ];
    const request = { model: "acme/messages", max_tokens: 9, messages };
    const statusOf = async () => (await gateway.handler(post("messages", request))).status;
    expect(await statusOf()).toBe(200);
    isAsked = true;
    expect(await statusOf()).toBe(400);
    expect(warnings).toEqual([]);
  });

  it("are those of embeddings, too", async () => {
    const { gateway, server } = await startHookedGateway(() => ({ texts: [{ path: "input[0]", text: "b" }] }));
    expect((await gateway.handler(post("embeddings", { model: "acme/embed", input: ["a"] }))).status).toBe(200);
    expect(server.lastRequest.json.input).toEqual(["b"]);
  });
});
