import { describe, expect, it } from "vitest";
import { hashKey } from "../../src/keys/hash-key.js";
import { type MemoryKey, memoryKeyStore } from "../../src/keys/memory-key-store.js";
import { describeKeyStore } from "../../src/testing/describe-key-store.js";

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
    ["no plan", { key: "sk-1", account: "a" }, /plan/],
    ["an invalid date", { key: "sk-1", account: "a", plan: "p", expiresAt: "soon" }, /expiresAt/],
    ["an unknown member", { key: "sk-1", account: "a", plan: "p", expires: 5 }, /expires/],
  ])("refuses %s", (_name, key, message) => {
    expect(() => memoryKeyStore([key as MemoryKey])).toThrow(message);
  });

  it("refuses what is no list", () => {
    expect(() => memoryKeyStore({ "sk-1": { account: "a", plan: "p" } } as unknown as MemoryKey[])).toThrow(
      /pass a list of keys/,
    );
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
