import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeRuntime } from "../../../src/runtime/node-runtime.js";
import type { Runtime } from "../../../src/runtime/runtime.js";
import { webRuntime } from "../../../src/runtime/web-runtime.js";

const hex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"));

describe.each<[string, Runtime]>([
  ["Node's modules", nodeRuntime],
  ["standards of the web", webRuntime],
])("by %s", (_name, runtime) => {
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
  ])("hashes %j by SHA-256 (FIPS 180-4)", (text, digest) => {
    expect(runtime.sha256(text, "hex")).toBe(digest);
    const running = runtime.startSha256();
    for (const letter of text) running.update(letter);
    expect(running.digest("hex")).toBe(digest);
  });

  it("hashes by SHA-1 (FIPS 180-4)", () => {
    expect(runtime.sha1("abc", "hex")).toBe("a9993e364706816aba3e25717850c26c9cd0d89d");
  });

  it("signs by HMAC-SHA256 (RFC 4231, cases 1, 2 and 6)", () => {
    const sign = (key: Uint8Array, text: string) => runtime.hmacSha256(key, text, "hex");
    expect(sign(new Uint8Array(20).fill(0x0b), "Hi There")).toBe(
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    );
    expect(sign(Buffer.from("Jefe"), "what do ya want for nothing?")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
    expect(sign(new Uint8Array(131).fill(0xaa), "Test Using Larger Than Block-Size Key - Hash Key First")).toBe(
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    );
  });

  it("makes keys by HKDF-SHA256 (RFC 5869, case 3)", () => {
    const key = runtime.hkdfSha256(new Uint8Array(22).fill(0x0b), "", 42);
    expect(key).toEqual(hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"));
  });

  it("compares bytes whole, and by their length", () => {
    expect(runtime.isSameBytes(hex(""), hex(""))).toBe(true);
    expect(runtime.isSameBytes(hex("0102"), hex("0102"))).toBe(true);
    expect(runtime.isSameBytes(hex("0102"), hex("0103"))).toBe(false);
    expect(runtime.isSameBytes(hex("8102"), hex("0102"))).toBe(false);
    expect(runtime.isSameBytes(hex("0102"), hex("010200"))).toBe(false);
  });

  it("makes random bytes and ids, each time others", () => {
    const all = Array.from({ length: 200 }, () => runtime.randomBytes(32));
    expect(all.every((bytes) => Buffer.isBuffer(bytes) && bytes.length === 32)).toBe(true);
    expect(new Set(all.map(String)).size).toBe(200);
    // Each bit is set about every second time: 6,400 of them stray from 0.5 by 0.05 once in 10^15 runs.
    const ones = all.flatMap((bytes) => [...bytes]).map((byte) => byte.toString(2).replaceAll("0", "").length);
    const share = ones.reduce((sum, count) => sum + count, 0) / (200 * 32 * 8);
    expect(Math.abs(share - 0.5)).toBeLessThan(0.05);
    expect(runtime.randomBytes(65_536)).toHaveLength(65_536);
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect([runtime.randomUUID(), runtime.randomUUID()]).toEqual([
      expect.stringMatching(uuid),
      expect.stringMatching(uuid),
    ]);
    expect(runtime.randomUUID()).not.toBe(runtime.randomUUID());
  });

  it("calls back before a turn of the event loop, and not at once", async () => {
    const order: string[] = [];
    setImmediate(() => order.push("turn"));
    runtime.nextTick((word: string) => order.push(word), "tick");
    order.push("now");
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(["now", "tick", "turn"]);
  });
});

const bytes = fc.uint8Array({ maxLength: 300 });
/** Lone halves of surrogate pairs among them. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.array(fc.integer({ min: 0xd700, max: 0xe000 })).map((units) => String.fromCharCode(...units)),
);
const encoding = fc.constantFrom("hex" as const, "base64url" as const);

describe("both", () => {
  it("hash and sign alike", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(bytes, text)), text, bytes, encoding, (pieces, word, key, as) => {
        const digestBy = ({ startSha256 }: Runtime) => {
          const running = startSha256();
          for (const piece of pieces) running.update(piece);
          return running.digest(as);
        };
        const allBy = (runtime: Runtime) => [
          digestBy(runtime),
          ...pieces.map((piece) => runtime.sha256(piece, as)),
          runtime.sha1(word, as),
          runtime.hmacSha256(key, word, as),
          runtime.hkdfSha256(key, word, 32),
          runtime.hkdfSha256(word, word, 32),
        ];
        expect(allBy(webRuntime)).toEqual(allBy(nodeRuntime));
      }),
    );
  });

  it("judge bytes alike", () => {
    const cut = text.chain((whole) => {
      const encoded = new TextEncoder().encode(whole);
      return fc.nat(encoded.length).map((end) => encoded.subarray(0, end));
    });
    fc.assert(
      fc.property(fc.oneof(bytes, cut), bytes, (some, other) => {
        const allBy = ({ isUtf8, isAscii, isSameBytes }: Runtime) => [
          ...[isUtf8(some), isAscii(some), isSameBytes(some, other), isSameBytes(some, Uint8Array.from(some))],
        ];
        expect(allBy(webRuntime)).toEqual(allBy(nodeRuntime));
      }),
      { numRuns: 1_000 },
    );
  });
});
