import type { ApiKey, KeyStore } from "../records/keys/key-store.js";
import { hashKey } from "../records/keys/managed-key.js";
import { expect } from "./expect.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

/**
 * Defines the tests that every {@link KeyStore} must pass.
 *
 * @param make - makes a store that holds these keys, by their hashes ({@link hashKey}), and no others.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeKeyStore(
  name: string,
  make: (keys: readonly (ApiKey & { key: string })[]) => Promise<KeyStore> | KeyStore,
  runner?: TestRunner,
): void {
  const { describe, it } = testRunnerOf(runner);
  describe(`${name}: the key store contract`, () => {
    const full = {
      key: "sk-full",
      id: "key_full",
      account: "acct_1",
      plan: "pro",
      expiresAt: new Date("2030-01-01T00:00:00Z"),
      revokedAt: new Date("2030-06-01T00:00:00Z"),
      enabled: false,
      models: ["acme/*"],
      anchor: new Date("2025-01-31T10:00:00Z"),
      credits: { day: 0.5, total: 100 },
      rates: { requestsPerMinute: { limit: 60, burst: 5 }, models: { "acme/*": { concurrent: 2 } } },
      lineage: "key_first",
    };
    const plain = { key: "sk-plain", id: "key_plain", account: "acct_2", plan: "basic" };

    it("finds a key by its hash, with all that it holds", async () => {
      const found = await (await make([full, plain])).find(hashKey("sk-full"));
      expect(found).toMatchObject({
        id: "key_full",
        account: "acct_1",
        plan: "pro",
        enabled: false,
        models: ["acme/*"],
        credits: full.credits,
        rates: full.rates,
        lineage: "key_first",
      });
      for (const member of ["expiresAt", "revokedAt", "anchor"] as const) {
        expect(new Date(found?.[member] ?? 0)).toEqual(full[member]);
      }
    });

    it("leaves out what a key does not have", async () => {
      const found = await (await make([full, plain])).find(hashKey("sk-plain"));
      expect(found).toMatchObject({ id: "key_plain", account: "acct_2", plan: "basic" });
      for (const member of ["expiresAt", "revokedAt", "anchor", "models", "credits", "rates", "lineage"] as const)
        expect(found?.[member] ?? null).toBeNull();
      expect(found?.enabled ?? true).toBe(true);
    });

    it("finds nothing for another hash", async () => {
      const store = await make([full]);
      expect((await store.find(hashKey("sk-other"))) ?? null).toBeNull();
      expect((await store.find("sk-full")) ?? null).toBeNull();
      expect((await store.find("__proto__")) ?? null).toBeNull();
      expect((await store.find("")) ?? null).toBeNull();
    });

    it("does not give the key itself away", async () => {
      const store = await make([full]);
      expect(JSON.stringify([store, await store.find(hashKey("sk-full"))])).not.toContain("sk-full");
    });
  });
}
