import { afterEach, describe, expect, it, vi } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { makeManagedKey } from "../../../../src/records/keys/managed-key.js";
import { memoryKeyStore } from "../../../../src/stores/memory/memory-stores.js";
import { wholeAnswer } from "../../../../src/testing/fake-upstream/fake-responses.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";
import { chatCall } from "../../adapters/client.js";

let open: TestGateway[] = [];
afterEach(async () => {
  for (const test of open) await test.close();
  open = [];
});

async function start(options: Partial<GatewayOptions>): Promise<TestGateway> {
  const test = await startTestGateway(options);
  open.push(test);
  return test;
}

const chat = (key: string) =>
  new Request(
    "http://host/v1/chat/completions",
    chatCall({}, { headers: { authorization: `Bearer ${key}`, "content-type": "application/json" } }),
  );
const statusOf = async (test: TestGateway, key: string) => (await test.gateway.handler(chat(key))).status;

describe("keyPrefix", () => {
  it("begins the keys that are made, and their hints", async () => {
    const test = await start({ keyPrefix: "acme_live_" });
    const { secret, hint } = await test.gateway.keys.create({ account: "a", plan: "pro" });
    expect(secret).toMatch(/^acme_live_[0-9A-Za-z]{46}$/);
    expect(hint).toBe(`${secret.slice(0, 14)}…${secret.slice(-4)}`);
    expect(await statusOf(test, secret)).toBe(200);
  });

  it.each(["a", "-", "_".repeat(32), "sk-ig-live-", "sk-", "A9"])("may be %j", async (keyPrefix) => {
    const test = await start({ keyPrefix });
    const { secret } = await test.gateway.keys.create({ account: "a", plan: "pro" });
    expect(secret.slice(0, keyPrefix.length)).toBe(keyPrefix);
    expect(await statusOf(test, secret)).toBe(200);
    expect(await statusOf(test, makeManagedKey(keyPrefix))).toBe(401);
  });

  it.each(["", "a".repeat(33), "acme live", "acme.live", "sk:", "ä_", "a\n", 7, null])(
    "may not be %j, and the error says what may",
    async (keyPrefix) => {
      await expect(startTestGateway({ keyPrefix: keyPrefix as string })).rejects.toThrow(
        /keyPrefix: .*(letters|string)/,
      );
    },
  );

  it("changes nothing for keys of another one, or of the host's own, that begin alike", async () => {
    const keys = memoryKeyStore([{ key: "acme_live_own", account: "a", plan: "pro" }]);
    const prefixes = ["sk-ig-", "acme_live_", "acme_", "sk-ig-live-", "a"];
    const secrets = ["acme_live_own"];
    for (const keyPrefix of prefixes) {
      const { gateway } = await start({ keys, keyPrefix });
      secrets.push((await gateway.keys.create({ account: "a", plan: "pro" })).secret);
    }
    for (const keyPrefix of prefixes) {
      const test = await start({ keys, keyPrefix });
      for (const secret of secrets)
        expect([keyPrefix, secret, await statusOf(test, secret)]).toEqual([keyPrefix, secret, 200]);
    }
  });

  it("has a mistyped key refused without a look-up, of the default prefix too", async () => {
    const store = memoryKeyStore();
    const find = vi.fn(store.find);
    const test = await start({ keys: { ...store, find }, keyPrefix: "acme_live_", cacheTtlMs: 0 });
    for (const secret of [makeManagedKey("acme_live_"), makeManagedKey()]) {
      const last = secret.at(-1) === "a" ? "b" : "a";
      expect(await statusOf(test, secret.slice(0, -1) + last)).toBe(401);
    }
    expect(find).not.toHaveBeenCalled();
    expect(await statusOf(test, makeManagedKey("acme_live_"))).toBe(401);
    expect(find).toHaveBeenCalledTimes(1);
  });

  it("is known to whatever takes keys out of an upstream's words, for clients and in warnings", async () => {
    const test = await start({ keyPrefix: "acme_live_" });
    // The rare one that has no digit, which nothing else would tell from a word.
    const letters = `acme_live_${"QmvTxLwZkRpNcYhBdJ".repeat(3).slice(0, 46)}`;
    for (const secret of [makeManagedKey("acme_live_"), letters, "acme_live_Ab3d****"]) {
      test.upstream.reply(wholeAnswer({ error: { message: `Bad user ${secret} in the field` } }, { status: 400 }));
      const response = await test.gateway.handler(chat("sk-pro"));
      const text = await response.text();
      expect([response.status, text]).toEqual([400, expect.stringContaining("Bad user [redacted] in the field")]);
      test.upstream.reply(wholeAnswer({ error: { message: `Who is ${secret}?` } }, { status: 401 }));
      expect(await statusOf(test, "sk-pro")).toBe(502);
      const warning = test.warnings.at(-1);
      expect(warning?.code).toBe("upstream_failed");
      expect(warning?.message).not.toContain(secret);
      expect(JSON.stringify(test.events)).not.toContain(secret);
    }
  });
});
