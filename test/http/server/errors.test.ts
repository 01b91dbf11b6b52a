import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { ApiKey } from "../../../src/records/keys/key-store.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import {
  chatAnswer,
  errorBody,
  hangAfterHeaders,
  hangBeforeHeaders,
  rawAnswer,
  resetBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { chatRequest, getRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
beforeEach(async () => {
  test = await startTestGateway();
});
afterEach(() => test.close());

interface ErrorResponse {
  status: number;
  headers: Headers;
  error: { message: string; type: string; param: string | null; code: string };
}

async function failing(request: Request): Promise<ErrorResponse> {
  const response = await test.gateway.handler(request);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  const body = (await response.json()) as { error: ErrorResponse["error"] };
  expect(Object.keys(body)).toEqual(["error"]);
  expect(Object.keys(body.error).sort()).toEqual(["code", "message", "param", "type"]);
  return { status: response.status, headers: response.headers, error: body.error };
}

function withAuthorization(value: string): Request {
  return new Request("http://gateway.test/v1/models", { headers: { authorization: value } });
}

describe("authentication", () => {
  it.each([
    ["no header", getRequest("/v1/models", null)],
    ["an empty header", withAuthorization("")],
    ["another scheme", withAuthorization("Basic c2stcHJv")],
    ["two headers", withAuthorization("Bearer sk-pro, Bearer sk-pro")],
    ["no token", withAuthorization("Bearer")],
    ["two tokens", withAuthorization("Bearer sk-pro sk-pro")],
    ["other characters", withAuthorization("Bearer sk-pro\u00e9")],
  ])("refuses %s", async (_name, request) => {
    const { status, headers, error } = await failing(request);
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe('Bearer realm="infergate"');
    expect(error).toMatchObject({ type: "invalid_request_error", code: "invalid_api_key", param: null });
  });

  it("refuses an unknown key without repeating it", async () => {
    const { status, headers, error } = await failing(getRequest("/v1/models", "sk-unknown-secret"));
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect(error.message).not.toContain("sk-unknown-secret");
  });

  it("takes the scheme in any case, with any number of spaces", async () => {
    expect((await test.gateway.handler(withAuthorization("bEARER   sk-pro"))).status).toBe(200);
  });

  it("comes before everything else that could be told", async () => {
    expect((await failing(chatRequest("{", "sk-wrong"))).status).toBe(401);
    expect((await failing(getRequest("/v1/models/acme%2Fnone", "sk-wrong"))).status).toBe(401);
    expect(test.upstream.requests).toHaveLength(0);
  });
});

describe("keys that end", () => {
  const noon = Date.UTC(2026, 0, 1, 12);
  it.each([
    ["expiresAt", noon],
    ["revokedAt", new Date(noon)],
    ["expiresAt", new Date(noon).toISOString()],
  ])("are refused from %s on (%s)", async (name, instant) => {
    let now = noon - 1;
    const ending = await startTestGateway({
      clock: { now: () => now },
      keys: memoryKeyStore([{ key: "sk-ending", account: "a", plan: "pro", [name]: instant }]),
    });
    expect((await ending.gateway.handler(getRequest("/v1/models", "sk-ending"))).status).toBe(200);
    now = noon;
    expect((await ending.gateway.handler(getRequest("/v1/models", "sk-ending"))).status).toBe(401);
    expect(ending.events.at(-1)).toMatchObject({ status: 401, account: "a", plan: "pro" });
    expect(ending.events.at(-1)?.keyId).toMatch(/^key_/);
    await ending.close();
  });
});

describe("models", () => {
  it.each([
    ["an unknown model", "acme/none", "sk-basic", 404, "model_not_found"],
    ["a model outside the plan", "acme/large", "sk-basic", 403, "model_not_allowed"],
    ["a model outside the key's own list", "acme/large", "sk-narrow", 403, "model_not_allowed"],
    ["an embedding model", "acme/embed", "sk-pro", 400, "invalid_value"],
  ])("refuses %s", async (_name, model, key, status, code) => {
    const answer = await failing(chatRequest({ model }, key));
    expect(answer).toMatchObject({ status, error: { code, param: "model", type: "invalid_request_error" } });
    expect(test.upstream.requests).toHaveLength(0);
  });
});

describe("stores that fail", () => {
  it("are a 503 with a warning, never a 401, and are asked again", async () => {
    let broken = true;
    const keys = memoryKeyStore([{ key: "sk-pro", account: "a", plan: "pro" }]);
    const failingStores = await startTestGateway({
      keys: {
        find: async (hash) => {
          if (broken) throw new Error("connection to redis://user:secret@host lost");
          return keys.find(hash);
        },
      },
    });
    const response = await failingStores.gateway.handler(getRequest("/v1/models"));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await response.text()).not.toContain("secret");
    expect(failingStores.warnings).toMatchObject([{ code: "key_store_failed" }]);
    broken = false;
    expect((await failingStores.gateway.handler(getRequest("/v1/models"))).status).toBe(200);
    await failingStores.close();
  });

  it.each([
    ["the plan store", { plans: { find: () => Promise.reject(new Error("no plans")) } }, "plan_store_failed"],
    [
      "a plan with a negative stock",
      { plans: { find: (id: string) => ({ id, models: ["*"], credits: { session: -1 } }) } },
      "plan_store_failed",
    ],
    [
      "a key with an invalid date",
      { keys: { find: () => ({ id: "k", account: "a", plan: "pro", expiresAt: "soon" }) } },
      "key_store_failed",
    ],
    ["the ledger", { ledger: rejectingLedger() }, "ledger_failed"],
  ])("gives a 503 for %s", async (_name, options, code) => {
    const failingStores = await startTestGateway(options);
    const response = await failingStores.gateway.handler(chatRequest());
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      error: { type: "service_unavailable_error", code: "service_unavailable" },
    });
    expect(failingStores.warnings.map((warning) => warning.code)).toContain(code);
    await failingStores.close();
  });

  it.each([
    ["no account", { id: "k", plan: "pro" }, /account/],
    ["a number as the account", { id: "k", account: 7, plan: "pro" }, /account: must be a string/],
    ["an endless account", { id: "k", account: "a".repeat(129), plan: "pro" }, /at most 128/],
    ["no id", { account: "a", plan: "pro" }, /id/],
    ["models in one text", { id: "k", account: "a", plan: "pro", models: "acme/*" }, /list of model ids/],
  ])("says what is wrong with a stored key that has %s", async (_name, record, message) => {
    const stored = await startTestGateway({ keys: { find: () => record as unknown as ApiKey } });
    const response = await stored.gateway.handler(chatRequest({ model: "acme/free" }));
    expect(response.status).toBe(503);
    expect(stored.warnings).toMatchObject([{ code: "key_store_failed", message: expect.stringMatching(message) }]);
    await stored.close();
  });

  it("takes null for no key and no plan, as databases answer", async () => {
    const empty = await startTestGateway({ keys: { find: () => null } });
    expect((await empty.gateway.handler(getRequest("/v1/models"))).status).toBe(401);
    await empty.close();
    const unplanned = await startTestGateway({ plans: { find: async () => null } });
    expect((await unplanned.gateway.handler(chatRequest())).status).toBe(403);
    await unplanned.close();
  });

  it("warns once of a stored plan that has no member credits: a misspelled column limits nothing", async () => {
    const stored = (plan: object) =>
      startTestGateway({ plans: { find: (id) => ({ id, models: ["*"], ...plan }) }, cacheTtlMs: 0 });
    const misspelled = await stored({ credit: { session: 1 } });
    for (let index = 0; index < 2; index++) expect((await misspelled.gateway.handler(chatRequest())).status).toBe(200);
    expect(misspelled.warnings).toMatchObject([{ code: "unlimited_plan", message: expect.stringContaining('"pro"') }]);
    await misspelled.close();
    const unlimited = await stored({ credits: null });
    expect((await unlimited.gateway.handler(chatRequest())).status).toBe(200);
    expect(unlimited.warnings).toEqual([]);
    await unlimited.close();
  });

  it.each([
    ["the gateway", { clock: new ManualClock(Date.UTC(2020, 2, 11)), ledger: memoryCreditLedger() }],
    ["the ledger", { ledger: memoryCreditLedger({ clock: new ManualClock(Date.UTC(2020, 2, 11)) }) }],
  ])("says what to pass when only %s was given a test's clock", async (_, options) => {
    const apart = await startTestGateway(options);
    expect((await apart.gateway.handler(chatRequest())).status).toBe(503);
    expect((await apart.gateway.handler(getRequest("/v1/usage"))).status).toBe(503);
    const toPass = expect.stringMatching(
      /ledger's clock \(20\d\d-.*Z\).*Give the ledger the same `clock` as createGateway/,
    );
    expect(apart.warnings).toMatchObject([
      { code: "ledger_failed", message: toPass },
      { code: "ledger_failed", message: toPass },
    ]);
    await expect(apart.gateway.accounts.balance("acct_pro")).rejects.toThrow(/same `clock` as createGateway/);
    await apart.close();
  });

  it("shows no model to a key whose plan does not exist, and warns", async () => {
    const orphaned = await startTestGateway({
      keys: memoryKeyStore([{ key: "sk-orphan", account: "a", plan: "gone" }]),
    });
    const list = await orphaned.gateway.handler(getRequest("/v1/models", "sk-orphan"));
    expect(await list.json()).toEqual({ object: "list", data: [] });
    expect((await orphaned.gateway.handler(chatRequest({}, "sk-orphan"))).status).toBe(403);
    const message = expect.stringMatching(/^A key or an account has the plan "gone", which does not exist/);
    expect(orphaned.warnings).toContainEqual(expect.objectContaining({ code: "unknown_plan", message }));
    await orphaned.close();
  });
});

function rejectingLedger() {
  const reject = () => Promise.reject(new Error("the ledger is down"));
  return {
    reserve: reject,
    renew: reject,
    settle: reject,
    release: reject,
    balance: reject,
    grant: reject,
    reset: reject,
    forget: reject,
    close: async () => {},
  };
}

describe("an upstream that fails", () => {
  const upstreamError = (status: number, error: object, headers: Record<string, string> = {}) =>
    wholeAnswer({ error }, { status, headers });

  it.each([
    [
      "a bad parameter",
      upstreamError(400, {
        message: "bad temperature",
        type: "invalid_request_error",
        param: "temperature",
        code: "invalid_value",
      }),
      400,
      "invalid_value",
      "temperature",
    ],
    ["a 422", wholeAnswer({ detail: "no such tool" }, { status: 422 }), 400, "upstream_rejected", null],
    [
      "a numeric code",
      upstreamError(400, { message: "no", type: "BadRequestError", code: 400 }),
      400,
      "upstream_rejected",
      null,
    ],
    [
      "a context that is too long",
      upstreamError(400, { message: "This model's maximum context length is 10 tokens." }),
      400,
      "context_length_exceeded",
      "messages",
    ],
    [
      "our key refused",
      upstreamError(401, { message: "Incorrect API key provided: sk-upstream-secret", code: "invalid_api_key" }),
      502,
      "bad_gateway",
      null,
    ],
    ["our balance used up", upstreamError(402, { message: "pay" }), 502, "bad_gateway", null],
    ["our access denied", upstreamError(403, { message: "no" }), 502, "bad_gateway", null],
    [
      "our quota used up",
      upstreamError(429, { message: "quota", type: "insufficient_quota", code: "insufficient_quota" }),
      502,
      "bad_gateway",
      null,
    ],
    [
      "shared capacity",
      upstreamError(429, { message: "slow down", type: "requests", code: "rate_limit_exceeded" }),
      429,
      "rate_limit_exceeded",
      null,
    ],
    [
      "a model that it does not know",
      upstreamError(404, { message: "The model upstream-small does not exist", code: "model_not_found" }),
      502,
      "bad_gateway",
      null,
    ],
    [
      "a missing file",
      upstreamError(404, { message: "No such file", param: "file_id", code: "not_there" }),
      400,
      "not_there",
      "file_id",
    ],
    ["a 500", upstreamError(500, { message: "boom at 10.0.0.1" }), 502, "bad_gateway", null],
    [
      "an HTML page",
      wholeAnswer("<html>nginx</html>", { status: 503, headers: { "content-type": "text/html" } }),
      502,
      "bad_gateway",
      null,
    ],
    [
      "a 200 with an error",
      wholeAnswer(errorBody("boom", { type: "server_error", code: "server_error" })),
      502,
      "bad_gateway",
      null,
    ],
    ["a 200 with HTML", wholeAnswer("<html>", { headers: { "content-type": "text/html" } }), 502, "bad_gateway", null],
    ["a 201", wholeAnswer(chatAnswer(), { status: 201 }), 502, "bad_gateway", null],
    ["a 200 that is empty", wholeAnswer(""), 502, "bad_gateway", null],
    ["no choices", wholeAnswer({ ...chatAnswer(), choices: [] }), 502, "bad_gateway", null],
    [
      "a redirect",
      wholeAnswer("", { status: 307, headers: { location: "http://127.0.0.1:1/" } }),
      502,
      "bad_gateway",
      null,
    ],
    ["a reset", resetBeforeHeaders(), 502, "bad_gateway", null],
    ["garbage", rawAnswer(["garbage\r\n\r\n"]), 502, "bad_gateway", null],
  ])(
    "with %s answers alike for streams and whole answers, and costs nothing",
    async (_name, reply, status, code, param) => {
      test.upstream.reply(reply);
      for (const stream of [false, true]) {
        const answer = await failing(chatRequest({ stream }));
        expect(answer).toMatchObject({ status, error: { code, param } });
        expect(answer.error.message).not.toMatch(/upstream-secret|10\.0\.0\.1|127\.0\.0\.1|upstream-small/);
        expect(answer.headers.get("x-ratelimit-remaining-session")).toBe("100");
      }
      expect(test.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 0]);
    },
  );

  it.each([
    ["30", "30"],
    ["0.2", "1"],
    ["86400", "60"],
    [new Date(Date.now() + 3_600_000).toUTCString(), "60"],
    ["soon", "1"],
    [undefined, "1"],
  ])("passes a Retry-After of %s on as %s", async (sent, expected) => {
    test.upstream.reply(
      upstreamError(429, { message: "slow down" }, sent === undefined ? {} : { "retry-after": sent }),
    );
    const { headers } = await failing(chatRequest());
    expect(headers.get("retry-after")).toBe(expected);
    expect(headers.get("x-should-retry")).toBeNull();
  });

  it("lets clients retry what a retry can mend, and nothing else", async () => {
    test.upstream.reply(upstreamError(500, {}, { "retry-after": "7" }));
    const broken = await failing(chatRequest());
    expect(broken.headers.get("x-should-retry")).toBeNull();
    expect(broken.headers.get("retry-after")).toBe("7");
    test.upstream.reply(upstreamError(401, {}));
    expect((await failing(chatRequest())).headers.get("x-should-retry")).toBe("false");
    expect(test.warnings.map(({ code }) => code)).toEqual(["upstream_failed", "upstream_failed"]);
    expect(test.warnings[0]?.message).toContain('"fake" failed for the model "acme/small" (there "upstream-small")');
    expect(test.warnings[1]?.message).toContain("Check the key and its balance there.");
  });

  it.each([
    ["a server of something else", wholeAnswer("<html></html>", { status: 404 }), /answered 404\. .*base URL.*\/v1/],
    ["a page", wholeAnswer("<html></html>"), /base URL/],
    ["a server without the model", upstreamError(404, { code: "model_not_found" }), /the target's `model`/],
    [
      "an Ollama without the model",
      upstreamError(404, { message: 'model "x" not found, try pulling it first', type: "not_found_error", code: null }),
      /the target's `model`/,
    ],
    [
      "a vLLM without the model",
      upstreamError(404, { message: "The model `x` does not exist.", type: "NotFoundError", code: 404 }),
      /the target's `model`/,
    ],
  ])("tells the operator what to look at when there is %s", async (_name, reply, advice) => {
    test.upstream.reply(reply);
    expect((await failing(chatRequest())).status).toBe(502);
    expect(test.warnings).toMatchObject([{ code: "upstream_failed", message: expect.stringMatching(advice) }]);
  });

  it.each([400, 429])("tells a %i from a failure in the event", async (status) => {
    test.upstream.reply(upstreamError(status, { message: "no" }));
    await failing(chatRequest());
    expect(test.events.at(-1)).toMatchObject({ endReason: "upstream_refused", chargedMicro: 0 });
  });

  it("lets none of its own headers out", async () => {
    test.upstream.reply(
      wholeAnswer(chatAnswer(), {
        headers: {
          "set-cookie": "a=b",
          server: "secret",
          "x-ratelimit-limit-requests": "5",
          "openai-organization": "org",
        },
      }),
    );
    const response = await test.gateway.handler(chatRequest());
    expect([...response.headers.keys()].filter((name) => !name.startsWith("x-ratelimit-"))).toEqual([
      "content-type",
      "x-credits-charged",
      "x-request-id",
    ]);
    expect(response.headers.get("x-ratelimit-limit-requests")).toBeNull();
  });

  it.each([
    ["before headers", hangBeforeHeaders()],
    ["after headers", hangAfterHeaders({ headers: { "content-type": "text/event-stream" } })],
  ])("by silence %s gives a 504", async (_name, reply) => {
    const patient = await startTestGateway({
      providers: { fake: openAICompatible({ baseURL: test.upstream.url, timeoutMs: 60 }) },
    });
    test.upstream.reply(reply);
    for (const stream of [true, false]) {
      const response = await patient.gateway.handler(chatRequest({ stream }));
      expect(response.status).toBe(504);
      expect(response.headers.get("x-should-retry")).toBe("false");
      expect(await response.json()).toMatchObject({ error: { code: "upstream_timeout", type: "server_error" } });
    }
    expect(patient.events[0]).toMatchObject({ chargedMicro: 0, endReason: "upstream_timeout" });
    await patient.close();
  });

  it("because nobody listens is a 502", async () => {
    const port = await closedPort();
    const unreachable = await startTestGateway({
      models: [{ ...smallModel, upstream: { provider: "none", model: "m" } }],
      providers: { none: openAICompatible({ baseURL: `http://127.0.0.1:${port}/v1` }) },
    });
    const response = await unreachable.gateway.handler(chatRequest());
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain(String(port));
    await unreachable.close();
  });
});

describe("an error that a host's provider throws", () => {
  it("is an answer in OpenAI's words, also where it lacks some of them", async () => {
    const thrown = Object.assign(new Error("Not today."), { name: "GatewayError", status: 418, headers: {} });
    const host = await startTestGateway({ providers: { fake: { call: () => Promise.reject(thrown) } } });
    for (const stream of [true, false]) {
      const response = await host.gateway.handler(chatRequest({ stream }));
      expect(response.status).toBe(418);
      const error = { message: "Not today.", type: "invalid_request_error", param: null, code: null };
      expect(await response.json()).toEqual({ error });
    }
    await host.close();
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 1;
}

describe("URLs and methods", () => {
  it.each(["/", "/v1", "/v1/nope", "/v1/chat", "/v1/modelsx", "/V1/models", "//v1/models", "/v1/embedding"])(
    "has no %s",
    async (path) => {
      expect(await failing(getRequest(path))).toMatchObject({ status: 404, error: { code: "unknown_url" } });
    },
  );

  it.each([
    ["/v1/batches", "no batches here"],
    ["/v1/files/file-1/content", "no files"],
    ["/v1/uploads", "no files"],
    ["/v1/realtime/client_secrets", "no realtime sessions"],
    ["/v1/images/variations", "Variations"],
    ["/v1/videos/video_1", "Videos"],
    ["/v1/audio/voices", "Voices"],
    ["/v1/audio/voice_consents/cons_1", "Voices"],
    ["/v1/ocr", "Pages"],
    ["/v1/live/sessions", "no realtime sessions"],
    ["/v1/decisions", "Decisions are not made here"],
    ["/v1/agents/agent_1/runs", "Agents are not run here"],
    ["/v1/sessions", "Agents are not run here"],
    ["/v1/skills/skill_1/versions", "No skills"],
    ["/v1/messages/batches", "no batches here"],
    ["/v1/messages/batches/batch_1/results", "no batches here"],
    ["/v1/complete", "POST /v1/messages"],
    ["/v1/organizations/me", "not managed here"],
  ])("says why %s is not here", async (path, why) => {
    const { status, error } = await failing(getRequest(path));
    expect({ status, code: error.code }).toEqual({ status: 404, code: "unknown_url" });
    expect(error.message).toContain(why);
  });

  it.each([
    ["DELETE", "/v1/models", "GET, HEAD, OPTIONS"],
    ["POST", "/healthz", "GET, HEAD, OPTIONS"],
    ["GET", "/v1/chat/completions", "POST, OPTIONS"],
    ["GET", "/v1/embeddings", "POST, OPTIONS"],
    ["PUT", "/v1/models/acme%2Fsmall", "GET, HEAD, OPTIONS"],
  ])("does not take %s on %s", async (method, path, allow) => {
    const { status, headers, error } = await failing(getRequest(path, "sk-pro", method));
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe(allow);
    expect(error.code).toBe("method_not_supported");
  });
});
