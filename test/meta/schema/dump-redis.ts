import type { Redis } from "ioredis";

/** A command that writes. Each character of a text is one byte of it. */
export type Command = readonly string[];

/** All that a server has, as commands that write it again, with their times to live. */
export async function dumpRedis(client: Redis): Promise<Command[]> {
  const commands: Command[] = [];
  for (const key of (await client.keys("*")).toSorted()) {
    commands.push(
      ...((await client.type(key)) === "stream" ? await streamOf(client, key) : [await commandOf(client, key)]),
    );
    const ttl = await client.pttl(key);
    if (ttl >= 0) commands.push(["PEXPIRE", key, String(ttl)]);
  }
  return commands;
}

async function commandOf(client: Redis, key: string): Promise<Command> {
  const type = await client.type(key);
  if (type === "string") return ["SET", key, ...(await texts(client, "GET", key))];
  if (type === "hash") return ["HSET", key, ...(await texts(client, "HGETALL", key))];
  if (type === "set") return ["SADD", key, ...(await texts(client, "SMEMBERS", key))];
  if (type === "zset") {
    const pairs = await texts(client, "ZRANGE", key, "0", "-1", "WITHSCORES");
    return [
      "ZADD",
      key,
      ...pairs.flatMap((_, index) => (index % 2 === 0 ? [pairs[index + 1] ?? "", pairs[index] ?? ""] : [])),
    ];
  }
  throw new Error(`${key} is a ${type}.`);
}

async function texts(client: Redis, command: string, ...args: string[]): Promise<string[]> {
  const reply = await client.callBuffer(command, ...args);
  return [reply].flat(9).map((bytes) => (bytes as Buffer).toString("latin1"));
}

/** A command for each entry. */
async function streamOf(client: Redis, key: string): Promise<Command[]> {
  const entries = (await client.callBuffer("XRANGE", key, "-", "+")) as [Buffer, Buffer[]][];
  return entries.map(([id, fields]) => ["XADD", key, ...[id, ...fields].map((bytes) => bytes.toString("latin1"))]);
}

/** Writes what {@link dumpRedis} has read. */
export async function loadRedis(client: Redis, commands: readonly Command[]): Promise<void> {
  for (const [command = "", ...args] of commands) {
    await client.call(command, ...args.map((text) => Buffer.from(text, "latin1")));
  }
}
