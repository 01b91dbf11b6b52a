import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build as bundle } from "esbuild";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { GuardedCreditLedger, GuardOptions } from "../../../src/ledger/guard/guarded-credit-ledger.js";
import type { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import type { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import type { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";

/** A store that is measured, with one ledger on it. */
export interface OpenedStore {
  readonly ledger: CreditLedger;
  /** How many scripts or statements it has run. */
  scripts(): Promise<number>;
  close(): Promise<void>;
}

/** The code of a clone, as it is published: the loader that runs this file would add a name to each closure. */
interface Library {
  readonly GuardedCreditLedger: typeof GuardedCreditLedger;
  readonly memoryCreditLedger: typeof memoryCreditLedger;
  readonly redisCreditLedger: typeof redisCreditLedger;
  readonly postgresCreditLedger: typeof postgresCreditLedger;
}

export type OpenStore = (library: Library) => Promise<OpenedStore>;

const members = ["GuardedCreditLedger", "memoryCreditLedger", "redisCreditLedger", "postgresCreditLedger"];

/** @param folder - of the clone. */
async function libraryOf(folder: string): Promise<Library> {
  // Files have moved from one commit to another.
  const files = readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({ file, text: readFileSync(join(folder, "src", file), "utf8") }));
  const contents = members.map((name) => {
    const place = files.find(({ text }) => new RegExp(`^export (class|function) ${name}\\b`, "m").test(text));
    if (place === undefined) throw new Error(`No file of ${folder}/src exports ${name}.`);
    return `export { ${name} } from "./src/${place.file.replace(/\.ts$/, ".js")}";`;
  });
  const output = await mkdtemp(join(folder, "node_modules", ".bench-"));
  const outfile = join(output, "library.mjs");
  await bundle({
    stdin: { contents: contents.join("\n"), resolveDir: folder },
    ...{ bundle: true, format: "esm", platform: "node", target: "node20", packages: "external", outfile },
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(output, { recursive: true });
  }
}

/** A ledger as the gateway uses it. */
export interface Build {
  readonly ledger: CreditLedger;
  readonly store: OpenedStore;
  close(): Promise<void>;
}

const options: GuardOptions = {
  reserveTimeoutMs: 60_000,
  settleTimeoutMs: 60_000,
  settleBeforeEndMs: 60_000,
  insureMicro: undefined,
  maxKeptSettlements: 10_000,
  replayMs: 10_000,
  denialCacheMs: 1_000,
  mayRemember: () => true,
  clock: { now: Date.now },
  emit: (event) => console.error(event),
};

/** @param folder - of a clone. */
export async function openBuild(folder: string, open: OpenStore): Promise<Build> {
  const library = await libraryOf(folder);
  const store = await open(library);
  if (store.ledger.inProcess === true) return { ledger: store.ledger, store, close: () => store.close() };
  const ledger = new library.GuardedCreditLedger(store.ledger, options);
  const close = async () => {
    await ledger.close();
    await store.close();
  };
  return { ledger, store, close };
}
