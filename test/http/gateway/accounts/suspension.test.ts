import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { createGateway } from "../../../../src/gateway/create-gateway.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatChunks, createGate, eventStream } from "../../../../src/testing.js";
import { shortenWaits } from "../../../e2e/clients/short-waits.js";
import { type ClientServer, expectNoSockets, withServer } from "../../../e2e/clients/start-server.js";
import { getRequest, startTestGateway } from "../../../support/test-gateway.js";

shortenWaits();
afterAll(expectNoSockets);

const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };
const paying = "Your invoice is overdue: see https://example.com/billing";

async function failureOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => new Error("It should have failed."),
    (thrown: unknown) => thrown,
  );
}

const withAccounts = (run: (server: ClientServer) => Promise<void>) => () =>
  withServer(run, { accounts: memoryAccountStore([{ id: "acct_pro", plan: "pro" }]) })();

describe("a suspended account", () => {
  it.each([false, true])(
    "is a PermissionDeniedError of the OpenAI SDK, which does not try again; stream: %s",
    (stream) =>
      withAccounts(async (server) => {
        await server.gateway.accounts.suspend("acct_pro", { message: paying });
        const client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro" });
        const error = await failureOf(client.chat.completions.create({ ...hello, stream }));
        expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
        expect(error).toMatchObject({ status: 403, code: "account_suspended", type: "invalid_request_error" });
        expect((error as Error).message).toContain(paying);
        expect(
          await failureOf(client.responses.create({ model: "acme/small", input: "Hello!", stream })),
        ).toMatchObject({
          code: "account_suspended",
        });
        expect(await failureOf(client.models.list().then(() => {}))).toMatchObject({ code: "account_suspended" });
        expect(server.attempts()).toBe(3);
        expect(server.upstream.requests).toHaveLength(0);
        expect(server.events).toMatchObject(
          Array(3).fill({
            account: "acct_pro",
            plan: "pro",
            status: 403,
            errorCode: "account_suspended",
            chargedMicro: 0,
          }),
        );
      })(),
  );

  it.each([false, true])("is a PermissionDeniedError of Anthropic's SDK, at the first attempt; stream: %s", (stream) =>
    withAccounts(async (server) => {
      await server.gateway.accounts.suspend("acct_pro", { message: paying });
      const client = new Anthropic({ baseURL: server.baseURL.replace("/v1", ""), apiKey: "sk-pro" });
      const error = await failureOf(client.messages.create({ ...hello, max_tokens: 10, stream }));
      expect(error).toBeInstanceOf(Anthropic.PermissionDeniedError);
      expect(error).toMatchObject({
        status: 403,
        error: { type: "error", error: { type: "permission_error", message: paying, code: "account_suspended" } },
      });
      expect((error as InstanceType<typeof Anthropic.APIError>).headers?.get("x-should-retry")).toBe("false");
      expect(await failureOf(client.messages.countTokens(hello))).toBeInstanceOf(Anthropic.PermissionDeniedError);
      expect(await failureOf(client.models.list().then(() => {}))).toBeInstanceOf(Anthropic.PermissionDeniedError);
      expect(server.attempts()).toBe(3);
      expect(server.upstream.requests).toHaveLength(0);
    })(),
  );

  it(
    "still has the calls that were in progress, and their charges",
    withAccounts(async (server) => {
      const gate = createGate();
      server.upstream.reply(eventStream(chatChunks("Hello world"), { gate }));
      gate.step(3);
      const client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 });
      const stream = await client.chat.completions.create({ ...hello, stream: true });
      await server.gateway.accounts.suspend("acct_pro");
      expect(await failureOf(client.chat.completions.create(hello))).toMatchObject({
        code: "account_suspended",
        message: expect.stringContaining("suspended"),
      });
      gate.open();
      let text = "";
      for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? "";
      expect(text).toBe("Hello world");
      expect(await failureOf(client.chat.completions.create(hello))).toMatchObject({ status: 403 });
    }),
  );

  it("does not close health probes, and does not tell strangers", async () => {
    const accounts = memoryAccountStore([{ id: "acct_pro", plan: "pro", status: "suspended" }]);
    const { gateway, close } = await startTestGateway({ accounts });
    expect((await gateway.handler(getRequest("/healthz"))).status).toBe(200);
    expect((await gateway.handler(getRequest("/v1/models", "sk-wrong"))).status).toBe(401);
    expect((await gateway.handler(getRequest("/v1/models", "sk-basic"))).status).toBe(200);
    expect((await gateway.handler(getRequest("/v1/models", "sk-pro"))).status).toBe(403);
    await close();
  });
});

describe("a gateway without accounts", () => {
  const parts = () => ({ models: [], plans: memoryPlanStore(), ledger: memoryCreditLedger(), providers: {} });

  it("refuses keys without a plan when it is created", () => {
    const keys = memoryKeyStore([{ key: "sk-1", id: "key_1", account: "a" }]);
    expect(() => createGateway({ ...parts(), keys })).toThrow(/key "key_1" names no `plan`.*`accounts`/);
    expect(() => createGateway({ ...parts(), keys, accounts: memoryAccountStore() })).not.toThrow();
  });

  it("makes no key without a plan, and says what to do where accounts are wanted", async () => {
    const gateway = createGateway({ ...parts(), keys: memoryKeyStore() });
    await expect(gateway.keys.create({ account: "a" })).rejects.toThrow(/plan: is required/);
    const { id } = await gateway.keys.create({ account: "a", plan: "p", anchor: null });
    await expect(gateway.keys.update(id, { plan: null })).rejects.toThrow(TypeError);
    const { accounts } = gateway;
    const calls = [
      accounts.put({ id: "a", plan: "p" }),
      accounts.update("a", { plan: "p" }),
      accounts.get("a"),
      accounts.list(),
      accounts.suspend("a"),
      accounts.resume("a"),
    ];
    for (const call of calls) await expect(call).rejects.toThrow(/Give createGateway `accounts`/);
    await gateway.close();
  });

  it("warns of a key without a plan from a store of the host's own, and answers 503", async () => {
    const keys = { find: async () => ({ id: "key_1", account: "a" }) };
    const { gateway, warnings, close } = await startTestGateway({ keys });
    expect((await gateway.handler(getRequest("/v1/models", "sk-1"))).status).toBe(503);
    expect(warnings).toMatchObject([
      { code: "key_store_failed", message: expect.stringContaining("plan: is required") },
    ]);
    await close();
  });
});

describe("an account store of the host's own", () => {
  it("is enough for requests; what it cannot do says so", async () => {
    const accounts = { find: (id: string) => (id === "acct_pro" ? { id, plan: "basic", createdBy: "host" } : null) };
    const { gateway, close } = await startTestGateway({ accounts });
    const listed = (await (await gateway.handler(getRequest("/v1/models"))).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toEqual(["acme/small"]);
    expect(await gateway.accounts.get("acct_pro")).toMatchObject({ plan: "basic" });
    expect(await gateway.accounts.get("acct_basic")).toBeUndefined();
    await expect(gateway.accounts.put({ id: "a", plan: "p" })).rejects.toThrow(/lacks `put`.*WritableAccountStore/);
    await expect(gateway.accounts.suspend("acct_pro")).rejects.toThrow(/lacks `update`/);
    await expect(gateway.accounts.update("acct_pro", { plan: "p" })).rejects.toThrow(
      /gateway\.accounts\.update.*lacks `update`.*WritableAccountStore/,
    );
    await gateway.accounts.forget("acct_pro");
    await close();
  });

  it("that keeps no versions writes nothing where one is expected", async () => {
    const { keepsVersions, ...accounts } = memoryAccountStore([{ id: "acct_pro", plan: "basic" }]);
    const { gateway, close } = await startTestGateway({ accounts });
    const expected = (await gateway.accounts.get("acct_pro"))?.version ?? "";
    const lacks = /keeps no versions to compare `expected` with.*`keepsVersions`/;
    await expect(gateway.accounts.put({ id: "acct_pro", plan: "p" }, { expected })).rejects.toThrow(lacks);
    await expect(gateway.accounts.put({ id: "new", plan: "p" }, { expected: null })).rejects.toThrow(lacks);
    await expect(gateway.accounts.update("acct_pro", { plan: "p" }, { expected })).rejects.toThrow(lacks);
    expect(await accounts.list()).toMatchObject({ accounts: [{ id: "acct_pro", plan: "basic" }] });
    await gateway.accounts.update("acct_pro", { plan: "p" });
    expect(await gateway.accounts.get("acct_pro")).toMatchObject({ plan: "p" });
    await close();
  });
});
