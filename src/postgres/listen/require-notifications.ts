import type { ListenPool, PostgresPool } from "../postgres-pool.js";
import { NoChangeFeedError } from "./no-change-feed-error.js";

const tickMs = 100;
const mostTicks = 20;

/**
 * Makes sure that a notice through the pool arrives. PgBouncer in transaction mode takes a LISTEN, and then gives the
 * connection that listens to others.
 *
 * @throws NoChangeFeedError when no notice arrives within two seconds.
 */
export async function requireNotifications(pool: PostgresPool, listen: ListenPool, channel: string): Promise<void> {
  const word = `${Date.now()}-${Math.random()}`;
  let isHeard = false;
  let wake: () => void = () => {};
  const end = await listen(channel, (payload) => {
    if (payload !== word) return;
    isHeard = true;
    wake();
  });
  try {
    await pool.query("select pg_notify($1, $2)", [channel, word]);
    // By ticks: a notice that a blocked process has not read yet is not late.
    for (let tick = 0; tick < mostTicks && !isHeard; tick++) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, tickMs);
        // The wait cannot be cancelled, so it must not outlive a closed gateway. The first tick keeps a process alive
        // that does nothing but subscribe: mostly the notice arrives within it.
        if (tick > 0) timer.unref?.();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    await end();
  }
  if (isHeard) return;
  throw new NoChangeFeedError(
    "PostgreSQL's notifications do not arrive. If PgBouncer is in between in transaction mode, give the stores a way around " +
      "it, `pool: { query: …, connect: … }`, or `listen: false` to do without.",
  );
}
