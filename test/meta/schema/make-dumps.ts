import { mkdirSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Redis } from "ioredis";
import Database from "libsql";
import pg from "pg";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { RedisServer } from "../../support/redis-server.js";
import type { Books } from "./books.js";
import type { StoreName } from "./dump.js";
import { dumpPostgres } from "./dump-postgres.js";
import { dumpRedis } from "./dump-redis.js";
import { dumpSqlite } from "./dump-sqlite.js";
import { writeBooks } from "./write-books.js";

/** Keeps what the code of a release leaves in the stores: `npm run schema:dump -- 1.0.0`. See docs/adding/schema.md. */
const [release] = process.argv.slice(2);
if (release === undefined || !/^[\w.-]+$/.test(release)) {
  throw new Error("Name the release: npm run schema:dump -- 1.0.0");
}

interface Dump {
  readonly text: string | Buffer;
  readonly name: string;
  readonly books: Books;
}

const dumps: Record<StoreName, () => Promise<Dump>> = {
  async postgres() {
    const server = new TemporaryServer({});
    await server.create();
    const pool = new pg.Pool({ connectionString: server.url });
    try {
      const books = await writeBooks(postgresStores({ pool }));
      return { text: gzipSync(dumpPostgres(server.url), { level: 9 }), name: "postgres.sql.gz", books };
    } finally {
      await pool.end();
      await server.remove();
    }
  },
  async sqlite() {
    const database = new Database(":memory:");
    const books = await writeBooks(sqliteStores({ database }));
    return { text: dumpSqlite(database), name: "sqlite.sql", books };
  },
  async redis() {
    const server = await RedisServer.start();
    const client = new Redis(server.port, "127.0.0.1");
    try {
      const books = await writeBooks(redisStores({ client }));
      const commands = (await dumpRedis(client)).map((command) => JSON.stringify(command));
      return { text: `[\n${commands.join(",\n")}\n]\n`, name: "redis.json", books };
    } finally {
      client.disconnect();
      await server.stop();
    }
  },
};

const target = new URL(`dumps/${release}/`, import.meta.url);
mkdirSync(target, { recursive: true });
const books: Partial<Record<string, Books>> = {};
for (const [store, make] of Object.entries(dumps)) {
  const dump = await make();
  writeFileSync(new URL(dump.name, target), dump.text);
  books[store] = dump.books;
  console.log(`${dump.name}: ${dump.text.length} bytes`);
}
writeFileSync(new URL("books.json", target), `${JSON.stringify(books)}\n`);
