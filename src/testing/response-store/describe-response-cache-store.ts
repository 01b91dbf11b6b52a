import { Buffer } from "node:buffer";
import type { ResponseCacheStore } from "../../cache/response-cache-store.js";
import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { type TestRunner, testRunnerOf } from "../test-runner.js";

type MakeStores = () =>
  | readonly [ResponseCacheStore, ResponseCacheStore]
  | Promise<readonly [ResponseCacheStore, ResponseCacheStore]>;

/** As long as the tests take at the most, in milliseconds. */
const longMs = 600_000;

/** As the gateway makes them: a digest. */
const keyOf = (number: number): string => `${number}`.padStart(43, "k-_");

const everyByte = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));

/**
 * Defines the tests that every {@link ResponseCacheStore} must pass.
 *
 * @param make - makes two stores that share their data, as two processes do, and have room for 2 MiB of an account. One store
 * in the memory of this process may stand for both. They need not be empty: accounts are unique.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeResponseCacheStore(name: string, make: MakeStores, runner?: TestRunner): void {
  const { describe, it } = testRunnerOf(runner);
  const bytesOf = async (store: ResponseCacheStore, account: string, key: string) => {
    const found = await store.get(account, key);
    return found && Buffer.from(found);
  };

  describe(`${name}: the response cache contract`, () => {
    it("gives what was put last, byte for byte, to every process", async () => {
      const [one, other] = await make();
      const account = unique("account");
      expect(await bytesOf(one, account, keyOf(1))).toBeUndefined();
      const values = [everyByte, Buffer.from("größer \u{1f600}"), Buffer.alloc(0), Buffer.from([0xff, 0x00, 0xc3])];
      for (const value of values) {
        await one.put(account, keyOf(1), value, longMs);
        for (const store of [one, other]) expect(await bytesOf(store, account, keyOf(1))).toEqual(Buffer.from(value));
      }
      expect(await bytesOf(one, account, keyOf(2))).toBeUndefined();
    });

    it("keeps the bytes that it was given, whatever becomes of them, and those of a part of a buffer", async () => {
      const [store] = await make();
      const account = unique("account");
      const buffer = Buffer.from("before: value :behind");
      await store.put(account, keyOf(1), new Uint8Array(buffer.buffer, buffer.byteOffset + 8, 5), longMs);
      expect(await bytesOf(store, account, keyOf(1))).toEqual(Buffer.from("value"));
    });

    it("has room for a large value", async () => {
      const [one, other] = await make();
      const account = unique("account");
      const large = Buffer.alloc(300_000, everyByte);
      await one.put(account, keyOf(1), large, longMs);
      expect(await bytesOf(other, account, keyOf(1))).toEqual(large);
    });

    it.each(["__proto__", "constructor", "a:b", "a}:{b", "*", "%", "ä", "a\u0308", " ", "a b"])(
      "keeps accounts apart, such as one called %j",
      async (text) => {
        const [store] = await make();
        const account = `${unique("account")}${text}`;
        const neighbour = account.slice(0, -1);
        await store.put(account, keyOf(1), Buffer.from("mine"), longMs);
        expect(await bytesOf(store, neighbour, keyOf(1))).toBeUndefined();
        await store.put(neighbour, keyOf(1), Buffer.from("theirs"), longMs);
        expect(await bytesOf(store, account, keyOf(1))).toEqual(Buffer.from("mine"));
        await store.forget(account);
        expect(await bytesOf(store, account, keyOf(1))).toBeUndefined();
        expect(await bytesOf(store, neighbour, keyOf(1))).toEqual(Buffer.from("theirs"));
      },
    );

    it("forgets all of an account, and keeps what is put later", async () => {
      const [one, other] = await make();
      const account = unique("account");
      for (let number = 0; number < 100; number++) await one.put(account, keyOf(number), everyByte, longMs);
      await other.forget(account);
      for (let number = 0; number < 100; number++) {
        expect(await bytesOf(one, account, keyOf(number))).toBeUndefined();
      }
      await other.forget(account);
      await one.put(account, keyOf(0), everyByte, longMs);
      expect(await bytesOf(other, account, keyOf(0))).toEqual(everyByte);
    });

    it("takes many values of one account at once, and loses none of others for them", async () => {
      const [one, other] = await make();
      const [account, quiet] = [unique("account"), unique("account")];
      await one.put(quiet, keyOf(1), everyByte, longMs);
      const value = Buffer.alloc(64 * 1024, everyByte);
      const numbers = Array.from({ length: 100 }, (_, number) => number);
      await Promise.all(
        numbers.map(async (number) => (number % 2 ? one : other).put(account, keyOf(number), value, longMs)),
      );
      await one.put(account, keyOf(1000), value, longMs);
      expect(await bytesOf(other, account, keyOf(1000))).toEqual(value);
      expect(await bytesOf(other, quiet, keyOf(1))).toEqual(everyByte);
    });
  });
}
