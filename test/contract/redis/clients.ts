import { Redis } from "ioredis";
import { createClient } from "redis";
import type { RedisClient } from "../../../src/stores/redis/redis-client.js";

/** A client of one of the libraries, as a host would make it. */
export interface Connected {
  client: RedisClient;
  end(): void;
}

export type Connect = (port: number) => Promise<Connected>;

export async function connectIoredis(port: number): Promise<Connected> {
  const client = new Redis(port, "127.0.0.1", { lazyConnect: true });
  client.on("error", () => {});
  await client.connect();
  return { client, end: () => client.disconnect() };
}

export async function connectNodeRedis(port: number): Promise<Connected> {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  client.on("error", () => {});
  await client.connect();
  return { client, end: () => client.destroy() };
}

export const clients: readonly (readonly [name: string, connect: Connect])[] = [
  ["ioredis", connectIoredis],
  ["node-redis", connectNodeRedis],
];
