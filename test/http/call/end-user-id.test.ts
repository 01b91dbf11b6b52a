import { createHmac, hkdfSync } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { mistral } from "../../../src/providers/presets.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { smallModel, startTestGateway } from "../../support/test-gateway.js";
import { post, startHookedGateway } from "./hooks/start-hooked-gateway.js";

const secret = "0123456789abcdef0123456789abcdef";
const messages = [{ role: "user", content: "Hello" }];

/** As the documentation says it is made. */
function idOf(account: string, of = secret): string {
  const key = new Uint8Array(hkdfSync("sha256", of, "", "infergate: ids of end users", 32));
  return createHmac("sha256", key).update(account).digest("base64url");
}

const start = (options: Partial<GatewayOptions> = {}) =>
  startHookedGateway(() => undefined, { endUserId: true, secret, ...options });

const sentTo = ({ requests }: FakeUpstream) => JSON.parse(requests.at(-1)?.body.toString() ?? "{}");

describe("the id of an account for model servers", () => {
  it.each([
    ["chat/completions", "acme/chat", { messages, safety_identifier: "mine" }, "safety_identifier"],
    ["chat/completions", "acme/responses", { messages }, "safety_identifier"],
    ["responses", "acme/responses", { input: "Hello", safety_identifier: "mine" }, "safety_identifier"],
    ["chat/completions", "acme/messages", { messages }, "metadata"],
    ["messages", "acme/messages", { messages, max_tokens: 5, metadata: { user_id: "device" } }, "metadata"],
    ["messages", "acme/chat", { messages, max_tokens: 5, metadata: { user_id: "device" } }, "safety_identifier"],
  ])("goes from %s to %s", async (path, model, body, member) => {
    const { gateway, server } = await start();
    expect((await gateway.handler(post(path, { model, ...body }))).status).toBe(200);
    const sent = sentTo(server);
    const id = idOf("acct_pro");
    expect(sent[member]).toEqual(member === "metadata" ? { user_id: id } : id);
    expect(id).toHaveLength(43);
    expect(JSON.stringify(sent)).not.toMatch(/mine|device|acct_pro/);
  });

  it("is another one for another account, and with another secret; of several the first counts", async () => {
    const secrets = ["fedcba9876543210fedcba9876543210", secret];
    const { gateway, server } = await start({ secret: secrets });
    await gateway.handler(post("chat/completions", { model: "acme/small", messages }));
    expect(sentTo(server).safety_identifier).toBe(idOf("acct_pro", secrets[0]));
    const { fetch, baseURL } = gateway.as({ account: "other", plan: "pro" });
    const body = JSON.stringify({ model: "acme/small", messages });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${baseURL}/chat/completions`, { method: "POST", headers, body })).status).toBe(200);
    expect(sentTo(server).safety_identifier).toBe(idOf("other", secrets[0]));
  });

  it("counts less than what the host's hook sets", async () => {
    const hook = () => ({ upstream: { set: { safety_identifier: "of the host" } } });
    const { gateway, server } = await startHookedGateway(hook, { endUserId: true, secret });
    await gateway.handler(post("chat/completions", { model: "acme/small", messages }));
    expect(sentTo(server).safety_identifier).toBe("of the host");
  });

  it("is not for servers that refuse it, nor for other operations", async () => {
    const server = await startFakeUpstream();
    onTestFinished(() => server.close());
    const providers = { fake: mistral({ baseURL: server.url }) };
    const test = await startTestGateway({ endUserId: true, secret, providers, models: [smallModel] });
    onTestFinished(() => test.close());
    await test.gateway.handler(post("chat/completions", { model: "acme/small", messages }));
    expect(sentTo(server)).not.toHaveProperty("safety_identifier");
    const other = await start();
    await other.gateway.handler(post("embeddings", { model: "acme/embed", input: "Hello" }));
    expect(sentTo(other.server)).not.toHaveProperty("safety_identifier");
  });

  it("needs a secret", async () => {
    await expect(startTestGateway({ endUserId: true })).rejects.toThrow("endUserId needs `secret`");
  });
});
