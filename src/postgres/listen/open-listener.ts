import type { PostgresClient, PostgresPool } from "../postgres-pool.js";
import { NoChangeFeedError } from "./no-change-feed-error.js";

/** A pool of `pg` shows how it connects. */
interface PgPool {
  Client: new (options: object) => PgClient;
  options: object;
}

interface PgClient extends Omit<PostgresClient, "release"> {
  connect(): Promise<unknown>;
  end(): Promise<unknown>;
}

/**
 * Opens a connection to listen on. With a pool of `pg` it stands beside the pool. A client that is checked out for good
 * would take the last connection of a pool of one, and keep `pool.end()` waiting until the gateway is closed.
 *
 * @throws NoChangeFeedError when the pool can open none.
 */
export async function openListener(pool: PostgresPool): Promise<PostgresClient> {
  if (!isPgPool(pool)) {
    if (pool.connect) return pool.connect();
    throw new NoChangeFeedError(
      "The pool has neither `connect` nor `listen`. Give it one of them, or `listen: false` to do without.",
    );
  }
  const client = new pool.Client(pool.options);
  // An error without a listener would end the process. The `end` event reports it too.
  client.on("error", () => {});
  await client.connect();
  return Object.assign(client, {
    release: () => {
      client.end().catch(() => {});
    },
  });
}

function isPgPool(pool: object): pool is PgPool {
  const { Client, options } = pool as Partial<PgPool>;
  return typeof Client === "function" && typeof options === "object" && options !== null;
}
