import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

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

/** The packages stand in a folder of their own, which TypeScript does not find before they are installed. */
export async function newLite(): Promise<Lite> {
  const { PGlite } = await import(pathToFileURL(require.resolve("@electric-sql/pglite")).href);
  return new PGlite();
}

export async function loadNeon(): Promise<Neon> {
  return import(pathToFileURL(require.resolve("@neondatabase/serverless")).href);
}
