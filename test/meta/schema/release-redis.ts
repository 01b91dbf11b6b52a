import { writeFileSync } from "node:fs";
import { Redis } from "ioredis";
import { RedisServer } from "../../support/redis-server.js";
import { layoutFolder, redisLayouts } from "./redis-layouts.js";
import { todaysRedisLayout } from "./todays-redis-layout.js";

/** Adds today's layout of Redis, if it is a new one: see docs/adding/schema.md. */
const server = await RedisServer.start();
const client = new Redis(server.port, "127.0.0.1");
const layout = await todaysRedisLayout(client);
client.disconnect();
await server.stop();
const known = redisLayouts();
if (known.at(-1) !== layout) writeFileSync(new URL(`${known.length + 1}.txt`, layoutFolder), layout);
