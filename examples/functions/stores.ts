import { postgresStores } from "infergate/postgres";
import pg from "pg";

/** Two connections of an instance are enough: the stores send what comes at once together. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 3, query_timeout: 5_000 });
// A connection that ends while nobody uses it, as when the pooler restarts.
pool.on("error", (error) => console.error(`PostgreSQL: ${error.message}`));

/** No instance listens for changes: that would take one more connection each, around the pooler. */
export const stores = postgresStores({
  pool: { query: (text, values) => pool.query(text, values), listen: false },
});

/** For scripts, which end. */
export const closeStores = () => pool.end();
