import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { Redis } from "ioredis";
import Database from "libsql";
import pg from "pg";
import { TemporaryServer } from "../../support/postgres-server.js";
import { RedisServer } from "../../support/redis-server.js";
import type { Books, StoresOfVersion } from "../books.js";
import { bundleCommit } from "./bundle-commit.js";
import { dumpPostgres } from "./dump-postgres.js";
import { dumpRedis } from "./dump-redis.js";
import { dumpSqlite } from "./dump-sqlite.js";
import { type Landed, landed, processes, type StoreName } from "./landed.js";
import { storesOfCommit } from "./stores-of-commit.js";
import { writeBooks } from "./write-books.js";

/**
 * Makes the dumps that are not there: each by the code of its commit, from the history of this repository.
 * `tsx test/schema/history/make-dumps.ts <commit>…`
 */
const wanted = process.argv.slice(2);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "infergate-dumps-"));
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
const modules = new Map<string, Promise<Record<string, (options: object) => StoresOfVersion>>>();

const dumps: Record<StoreName, (landed: Landed) => Promise<{ text: string | Buffer; name: string; books: Books }>> = {
  async postgres(landed) {
    const server = new TemporaryServer({});
    await server.create();
    const pool = new pg.Pool({ connectionString: server.url });
    try {
      const books = await writeBooks(await storesOf(landed, "postgres", { pool }), landed);
      return { text: gzipSync(dumpPostgres(server.url), { level: 9 }), name: "postgres.sql.gz", books };
    } finally {
      await pool.end();
      await server.remove();
    }
  },
  async sqlite(landed) {
    const database = new Database(join(folder, `${landed.commit}.db`));
    const books = await writeBooks(await storesOf(landed, "sqlite", { database }), landed);
    return { text: dumpSqlite(database), name: "sqlite.sql", books };
  },
  async redis(landed) {
    const server = await RedisServer.start();
    const client = new Redis(server.port, "127.0.0.1");
    try {
      const books = await writeBooks(await storesOf(landed, "redis", { client }), landed);
      const commands = (await dumpRedis(client)).map((command) => JSON.stringify(command));
      return { text: `[\n${commands.join(",\n")}\n]\n`, name: "redis.json", books };
    } finally {
      client.disconnect();
      await server.stop();
    }
  },
};

async function storesOf({ commit }: Landed, store: StoreName, options: object): Promise<StoresOfVersion> {
  const loaded = modules.get(commit) ?? load(commit);
  modules.set(commit, loaded);
  const stores = (await loaded)[`${store}Stores`]?.(options);
  if (stores === undefined) throw new Error(`${commit} has no ${store}.`);
  return storesOfCommit(commit, stores);
}

async function load(commit: string) {
  const path = join(folder, `${commit}.mjs`);
  const text = await bundleCommit(commit);
  writeFileSync(path, text);
  if (processes.includes(commit)) {
    writeFileSync(new URL(`../processes/${commit}.mjs.gz`, import.meta.url), gzipSync(text, { level: 9 }));
  }
  return import(pathToFileURL(path).href);
}

for (const each of landed.filter(({ commit }) => wanted.includes(commit))) {
  const target = new URL(`../dumps/${each.commit}/`, import.meta.url);
  mkdirSync(target, { recursive: true });
  const books: Partial<Record<StoreName, Books>> = {};
  for (const store of each.stores) {
    const dump = await dumps[store](each);
    writeFileSync(new URL(dump.name, target), dump.text);
    books[store] = dump.books;
    console.log(`${each.commit} ${dump.name}: ${dump.text.length} bytes`);
  }
  writeFileSync(new URL("books.json", target), `${JSON.stringify(books)}\n`);
}
rmSync(folder, { recursive: true });
