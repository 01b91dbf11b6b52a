import { afterAll, beforeAll, describe } from "vitest";
import { openStores, type Stores } from "../../../examples/demo/open-stores.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { describeWithMariaDb } from "../../support/mariadb-server.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";

/** A store that several processes share, and this process's own view of it. */
export interface BackEnd {
  /** The settings by which a process finds the store. */
  environment: Record<string, string>;
  stores: Stores;
  /** Kills the store's server, and starts it again on the same files. Absent where there is none. */
  crash?: (() => Promise<void>) | undefined;
}

/** A suite for each store that processes can share. Where its server is not installed it is skipped. */
export function describeBackEnds(name: string, body: (backEnd: () => BackEnd) => void): void {
  const define = (environment: () => Record<string, string>, crash?: () => Promise<void>) => {
    let stores: Stores;
    beforeAll(async () => {
      stores = (await openStores(environment())) as Stores;
    });
    afterAll(() => stores?.close());
    body(() => ({ environment: environment(), stores, crash }));
  };

  describe(`${name} on one SQLite file`, () => {
    const folder = new DatabaseFolder();
    afterAll(() => folder.remove());
    define(() => ({ DATABASE: `sqlite:${folder.file}` }));
  });

  describe.runIf(hasRedisServer)(`${name} on Redis`, () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
    });
    afterAll(() => server?.stop());
    const crash = async () => {
      await server.kill();
      await server.restart();
    };
    define(() => ({ REDIS_URL: server.url }), crash);
  });

  describeWithPostgres(`${name} on PostgreSQL`, (server) => {
    const crash = async () => {
      await server.stop("immediate");
      await server.start();
    };
    define(() => ({ DATABASE_URL: server.url }), crash);
  });

  describeWithMariaDb(
    `${name} on MariaDB`,
    (server) => {
      const crash = async () => {
        await server.kill();
        await server.start();
      };
      define(() => ({ DATABASE_URL: server.url }), crash);
    },
    ["--innodb-flush-log-at-trx-commit=1"],
  );
}
