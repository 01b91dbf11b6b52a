import { describe, expect, it } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { type MemoryKey, memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { describeKeyStore } from "../../../src/testing/describe-key-store.js";

describeKeyStore("memoryKeyStore", (keys) => memoryKeyStore(keys));

describe("memoryKeyStore", () => {
  it("takes hashes as well as keys, and names keys that have no id", async () => {
    const store = memoryKeyStore([{ hash: hashKey("sk-1"), account: "a", plan: "p" }]);
    expect(await store.find(hashKey("sk-1"))).toMatchObject({ id: `key_${hashKey("sk-1").slice(0, 12)}` });
  });

  it.each([
    ["a key that cannot be sent", { key: "sk with secret", account: "a", plan: "p" }, /letters, digits/],
    ["an empty key", { key: "", account: "a", plan: "p" }, /letters, digits/],
    ["neither key nor hash", { account: "a", plan: "p" }, /must have a `key`, or a `hash`/],
    ["a malformed hash", { hash: "ABC", account: "a", plan: "p" }, /hexadecimal/],
    ["no account", { key: "sk-1", plan: "p" }, /account/],
    ["an empty plan", { key: "sk-1", account: "a", plan: "" }, /plan/],
    ["an invalid date", { key: "sk-1", account: "a", plan: "p", expiresAt: "soon" }, /expiresAt/],
    ["a key that looks like one of the gateway's", { key: "sk-ig-demo", account: "a", plan: "p" }, /another beginning/],
    ["too long an account", { key: "sk-1", account: "a".repeat(129), plan: "p" }, /128 characters/],
    ["an unknown member", { key: "sk-1", account: "a", plan: "p", expires: 5 }, /expires/],
  ])("refuses %s", (_name, key, message) => {
    expect(() => memoryKeyStore([key as MemoryKey])).toThrow(message);
  });

  it("refuses what is no list", () => {
    expect(() => memoryKeyStore({ "sk-1": { account: "a", plan: "p" } } as unknown as MemoryKey[])).toThrow(
      /pass a list of keys/,
    );
  });

  it("refuses two keys of one id, of which only one could be revoked", () => {
    const keys = ["sk-1", "sk-2"].map((key) => ({ key, id: "key_1", account: "a", plan: "p" }));
    expect(() => memoryKeyStore(keys)).toThrow(/keys\[1\] has the `id` of another/);
  });

  it("refuses a key that appears twice, without repeating it", () => {
    const twice = () =>
      memoryKeyStore([
        { key: "sk-secret", account: "a", plan: "p" },
        { hash: hashKey("sk-secret"), account: "b", plan: "p" },
      ]);
    expect(twice).toThrow(/keys\[1\] appears twice/);
    expect(twice).not.toThrow(/sk-secret/);
  });
});

describe("hashKey", () => {
  it("is the SHA-256 of FIPS 180-4 in hexadecimal", () => {
    expect(hashKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});
