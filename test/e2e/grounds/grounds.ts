import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What the stores are run on, beside the PostgreSQL that `npm test` finds. */
export interface Ground {
  readonly name: string;
  /** The folder of the server's binaries. Absent: the suites see to their database themselves. */
  readonly binaries?: string;
  /** Of vitest. */
  readonly mode: "all" | "grounds";
  /** What of the tests runs here. */
  readonly suites: readonly string[];
}

const folder = fileURLToPath(new URL(".", import.meta.url));

export const newestVersion = 18;

/** The package of a server, whose versions `test/e2e/grounds/package.json` names. */
export const packageOf = (version: number): string => `${folder}node_modules/postgres-${version}`;
export const binariesOf = (version: number): string => `${packageOf(version)}/native/bin`;

/** Whether `npm run grounds:install` has brought the servers here, and this machine can run them. */
export const hasGrounds = (): boolean => existsSync(`${binariesOf(18)}/postgres`);

/** Every store, with one driver. */
const stores = ["test/contract/postgres/postgres-stores."];
/** What the schema of each version must let the ledger do. Another driver differs in no statement. */
const ledger = [...stores, "-t", "on PostgreSQL on pg.*credit ledger"];

/** What runs where: all stores on the newest server, the ledger on the others. */
export const grounds: readonly Ground[] = [
  { name: "PostgreSQL 18", binaries: binariesOf(newestVersion), mode: "all", suites: stores },
  { name: "PostgreSQL 17", binaries: binariesOf(17), mode: "all", suites: ledger },
  { name: "PostgreSQL 16", binaries: binariesOf(16), mode: "all", suites: ledger },
  { name: "PostgreSQL 14", binaries: binariesOf(14), mode: "all", suites: ledger },
  { name: "the installed PostgreSQL", mode: "all", suites: ledger },
  { name: "PGlite, Neon, pools of apps, a restored dump", mode: "grounds", suites: ["test/e2e/grounds/"] },
];
