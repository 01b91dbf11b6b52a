import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { APICallError, generateText, type LanguageModel } from "ai";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InProcess } from "../../../../src/gateway/in-process/in-process.js";
import { memoryAccountStore, memoryKeyStore } from "../../../../src/stores/memory/memory-stores.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway;
beforeEach(async () => {
  const accounts = memoryAccountStore([
    { id: "acct_pro", plan: "pro" },
    { id: "acct_stopped", plan: "pro", status: "suspended", message: "Not paid." },
    { id: "acct_lost", plan: "none" },
  ]);
  // A key that names no plan, of an account without a record: what HTTP says of an account that is not there.
  const keys = memoryKeyStore([
    { key: "sk-nobody", account: "acct_nobody" },
    { key: "sk-stopped", account: "acct_stopped" },
    { key: "sk-lost", account: "acct_lost" },
    { key: "sk-one", account: "acct_two", plan: "pro" },
    { key: "sk-two", account: "acct_two", plan: "basic" },
  ]);
  test = await startTestGateway({ accounts, keys });
});
afterEach(() => test.close());

const messages = [{ role: "user" as const, content: "Hi" }];
const ask = { model: "acme/small", messages };
const ways = ["/v1/chat/completions", "/v1/responses", "/v1/messages"] as const;

function requestOf(path: string): RequestInit {
  const input = path === "/v1/responses" ? { input: "Hi" } : { messages, max_tokens: 5 };
  const body = JSON.stringify({ model: "acme/small", ...input });
  return { method: "POST", headers: { "content-type": "application/json" }, body };
}

/** Without what differs from request to request. */
async function answerOf(response: Response): Promise<unknown> {
  const { request_id: _, ...body } = (await response.json()) as { request_id?: string };
  const headers = [...response.headers].filter(([name]) => !name.endsWith("request-id"));
  return { status: response.status, headers, body };
}

describe("gateway.as() answers as HTTP does", () => {
  it.each([
    ["acct_stopped", "sk-stopped", 403, "account_suspended"],
    ["acct_lost", "sk-lost", 403, "model_not_allowed"],
    ["acct_none", "sk-nobody", 403, "account_without_plan"],
  ])("for the account %s", async (account, key, status, code) => {
    const { fetch } = test.gateway.as({ account });
    for (const path of ways) {
      const init = requestOf(path);
      const headers = { ...init.headers, authorization: `Bearer ${key}` };
      const overHttp = await test.gateway.handler(new Request(`http://gateway.test${path}`, { ...init, headers }));
      const inProcess = await answerOf(await fetch(`http://infergate.invalid${path}`, init));
      expect(inProcess).toEqual(await answerOf(overHttp));
      expect(inProcess).toMatchObject({ status, body: { error: { code } } });
    }
  });

  it("says to the operator which account is not there, once", async () => {
    const { fetch } = test.gateway.as({ account: "acct_none" });
    for (const path of ways) await fetch(`http://infergate.invalid${path}`, requestOf(path));
    expect(test.warnings).toMatchObject([{ code: "unknown_account", message: expect.stringContaining('"acct_none"') }]);
  });

  it("says what to pass where the keys of the account differ", async () => {
    const { baseURL, fetch } = test.gateway.as({ account: "acct_two" });
    const client = new OpenAI({ baseURL, fetch, apiKey: "none" });
    await expect(client.chat.completions.create(ask)).rejects.toThrow(OpenAI.BadRequestError);
    await expect(client.chat.completions.create(ask)).rejects.toThrow(
      /400 gateway\.as: .* differ in their plan\. Give/,
    );
  });
});

describe.each([
  ["acct_none", /no plan yet/],
  ["acct_stopped", /Not paid\./],
])("an SDK in process, for the account %s", (account, message) => {
  let caller: InProcess;
  beforeEach(() => {
    caller = test.gateway.as({ account });
  });

  it("is OpenAI's: a 403, without another attempt", async () => {
    const { baseURL, fetch } = caller;
    const client = new OpenAI({ baseURL, fetch, apiKey: "none" });
    for (const call of [
      () => client.chat.completions.create(ask),
      () => client.chat.completions.create({ ...ask, stream: true }),
      () => client.responses.create({ model: "acme/small", input: "Hi" }),
      () => client.models.list(),
    ]) {
      const before = test.events.length;
      await expect(call()).rejects.toThrow(OpenAI.PermissionDeniedError);
      expect(test.events.length).toBe(before + 1);
      await expect(call()).rejects.toThrow(message);
    }
  });

  it("is Anthropic's", async () => {
    const { baseURL, fetch } = caller;
    const client = new Anthropic({ baseURL: new URL(baseURL).origin, fetch, apiKey: "none" });
    const call = client.messages.create({ ...ask, max_tokens: 5 });
    await expect(call).rejects.toThrow(Anthropic.PermissionDeniedError);
    await expect(call).rejects.toThrow(message);
  });

  it.each<[string, (caller: InProcess) => LanguageModel]>([
    [
      "openai-compatible",
      ({ baseURL, fetch }) => createOpenAICompatible({ name: "acme", baseURL, fetch })("acme/small"),
    ],
    ["openai", ({ baseURL, fetch }) => createOpenAI({ baseURL, fetch, apiKey: "none" })("acme/small")],
    ["anthropic", ({ baseURL, fetch }) => createAnthropic({ baseURL, fetch, apiKey: "none" })("acme/small")],
  ])("is the AI SDK's %s", async (_, toModel) => {
    const call = generateText({ model: toModel(caller), prompt: "Hi" });
    const error: unknown = await call.then(undefined, (thrown: unknown) => thrown);
    expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable]).toEqual([403, false]);
    expect(String(error)).toMatch(message);
  });
});
