import fc from "fast-check";
import { Cluster, Command, Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, it } from "vitest";
import type { RedisClient } from "../../../../src/stores/redis/redis-client.js";
import { packed, packedSender } from "../../../../src/stores/redis/script.js";

const offline = { lazyConnect: true } as const;

describe("commands whose keys are packed", () => {
  const texts = fc.array(fc.string({ unit: "binary" }), { maxLength: 20 });

  it("are what ioredis makes of the same keys and arguments, byte for byte", () => {
    const client = new Redis(offline);
    const sent: Command[] = [];
    // As instrumentation does, it stands in the place of a method that all clients have.
    const { sendCommand } = Redis.prototype;
    Redis.prototype.sendCommand = (command) => {
      sent.push(command as Command);
      return Promise.resolve();
    };
    const send = packedSender(client);
    try {
      fc.assert(
        fc.property(fc.string(), texts, texts, (sha1, names, args) => {
          send?.(sha1, { count: names.length, text: names.map(packed).join("") }, args);
          const plain = new Command("evalsha", [sha1, names.length, ...names, ...args]);
          expect(sent.pop()?.toWritable({} as never)).toBe(plain.toWritable({} as never));
        }),
      );
    } finally {
      Redis.prototype.sendCommand = sendCommand;
    }
  });

  class OwnRedis extends Redis {
    evalshaBuffer(): Promise<unknown> {
      return this.ping();
    }
  }

  it.each<[string, () => unknown]>([
    ["node-redis", () => createClient()],
    ["a cluster", () => new Cluster([{ port: 1 }], offline)],
    ["a client that adds a prefix to keys", () => new Redis({ ...offline, keyPrefix: "own:" })],
    ["a client whose class has a method of its own", () => new OwnRedis(offline)],
    [
      "a client with a method of the host's",
      () => Object.assign(new Redis(offline), { evalshaBuffer: async () => "" }),
    ],
    ["a wrapper of the host's", () => ({ evalsha: async () => "", eval: async () => "" })],
  ])("are not for %s", (_name, open) => {
    expect(packedSender(open() as RedisClient)).toBeUndefined();
  });

  it("are for clients of classes that a host has derived", () => {
    class Derived extends Redis {}
    expect(packedSender(new Derived({ ...offline, showFriendlyErrorStack: true }))).toBeDefined();
  });
});
