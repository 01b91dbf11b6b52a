import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type pg from "pg";
import type { Sql } from "postgres";

const require = createRequire(import.meta.url);

/** What is used of a PGlite. */
export interface Lite {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  listen(channel: string, onPayload: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** What is used of Neon's driver. */
export interface Neon {
  readonly neonConfig: { fetchEndpoint: unknown };
  neon(
    url: string,
    options?: { fullResults: true },
  ): { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };
}

/** A package stands in a folder of its own, where TypeScript does not find it before it is installed. */
const load = (name: string) => import(pathToFileURL(require.resolve(name)).href);

export async function newLite(): Promise<Lite> {
  const { PGlite } = await load("@electric-sql/pglite");
  return new PGlite();
}

export function loadNeon(): Promise<Neon> {
  return load("@neondatabase/serverless");
}

/** What is used of an app's Drizzle. */
interface Drizzle<Client> {
  drizzle(client: unknown): { readonly $client: Client; execute(sql: string): Promise<unknown> };
}

export function loadDrizzle(): Promise<Drizzle<pg.Pool>> {
  return load("drizzle-orm/node-postgres");
}

export function loadDrizzleOverPostgresJs(): Promise<Drizzle<Sql>> {
  return load("drizzle-orm/postgres-js");
}

/** What is used of Prisma's driver adapter, which its client is given. */
export function loadPrismaAdapter(): Promise<{
  PrismaPg: new (
    pool: pg.Pool,
  ) => { connect(): Promise<{ executeScript(sql: string): Promise<void>; dispose(): Promise<void> }> };
}> {
  return load("@prisma/adapter-pg");
}
