import { Redis } from "ioredis";
import pg from "pg";
import { TemporaryServer } from "../../support/postgres-server.js";
import { RedisServer } from "../../support/redis-server.js";
import { limitsNow } from "../ledger-pair.js";
import type { OpenStore } from "./build.js";

export const openMemory: OpenStore = async ({ memoryCreditLedger }) => ({
  ledger: memoryCreditLedger(),
  scripts: async () => 0,
  close: async () => {},
});

export const openRedis: OpenStore = async ({ redisCreditLedger }) => {
  const server = await RedisServer.start();
  const client = new Redis(server.port, "127.0.0.1");
  return {
    ledger: redisCreditLedger({ client }),
    scripts: async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info("commandstats"))?.[1] ?? 0),
    close: async () => {
      client.disconnect();
      await server.stop();
    },
  };
};

export const openPostgres: OpenStore = async ({ postgresCreditLedger }) => {
  const server = new TemporaryServer({ fsync: "off", jit: "on", shared_buffers: "256MB" });
  await server.create();
  const pool = new pg.Pool({ connectionString: server.url, max: 32 });
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
  let statements = 0;
  Object.assign(pool, {
    query: (...args: unknown[]) => {
      statements++;
      return query(...args);
    },
  });
  const ledger = postgresCreditLedger({ pool });
  await ledger.balance("nobody", limitsNow());
  return {
    ledger,
    scripts: async () => statements,
    close: async () => {
      await ledger.close();
      await pool.end();
      await server.remove();
    },
  };
};
