import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bookMutations } from "../../contract/books/book-mutations.js";
import { mutations as memory } from "../../contract/memory/mutations.js";
import { mutations as mysql } from "../../contract/mysql/mutations.js";
import { mutations as postgres } from "../../contract/postgres/mutations.js";
import { accountRules, keyRules, recordUses } from "../../contract/records/mutations.js";
import { mutations as redis } from "../../contract/redis/mutations.js";
import { mutations as sqlite } from "../../contract/sqlite/mutations.js";
import { mutations as access, budgetMutations } from "../access/mutations.js";
import { mutations as call, lateCounts } from "../call/mutations.js";
import { mutations as gateway } from "../gateway/mutations.js";
import { mutations as openai } from "../protocols/mutations.js";
import * as modelApi from "../protocols/shared/mutations.js";
import * as shortcuts from "../protocols/shortcuts/mutations.js";
import { postgresSchema } from "../schema/mutations.js";
import { mutations as server } from "../server/mutations.js";
import { mutations as tokens } from "../tokens/mutations.js";
import { mutations as wire } from "../wire/mutations.js";
import type { Mutation } from "./mutation.js";

/** The lines of a store to break. */
export interface StoreMutations {
  /** Its folder in `src`, and on a shelf of `test`. */
  readonly store: string;
  /** The folder of its tests on a shelf. Default: its own. */
  readonly testFolder?: string;
  /** Arguments of vitest: the tests of most lines, with one driver, which is enough for that. */
  readonly tests: readonly string[];
  readonly mutations: readonly Mutation[];
}

export const allMutations: readonly StoreMutations[] = [
  { store: "gateway", tests: ["in-process/kept-response"], mutations: gateway },
  { store: "access", tests: ["entitlement"], mutations: access },
  { store: "records/budgets", testFolder: "access", tests: ["known-budgets"], mutations: budgetMutations },
  { store: "records/keys", testFolder: "memory", tests: ["memory-stores", "memory-key-store"], mutations: keyRules },
  {
    store: "records/accounts",
    testFolder: "memory",
    tests: ["memory-stores", "memory-account-store"],
    mutations: accountRules,
  },
  { store: "records", testFolder: "memory", tests: ["memory-stores", "memory-account-store"], mutations: recordUses },
  { store: "request-log", testFolder: "books", tests: ["request-pages"], mutations: bookMutations },
  { store: "call", tests: ["repeated-denial"], mutations: call },
  { store: "server", tests: ["repeated-errors"], mutations: server },
  {
    store: "stores/memory",
    testFolder: "memory",
    tests: ["memory-stores", "memory-response-store"],
    mutations: memory,
  },
  { store: "protocols", testFolder: "call", tests: ["denied-again"], mutations: lateCounts },
  { store: "protocols", tests: ["read-whole"], mutations: openai },
  { store: "protocols/shared", testFolder: "protocols", tests: ["read-whole"], mutations: modelApi.answers },
  { store: "protocols/shared", tests: ["prompt/prompt-count"], mutations: modelApi.prompts },
  { store: "tokens", tests: ["text-tokens"], mutations: tokens },
  { store: "wire", tests: ["syntax/check-by-vectors"], mutations: wire },
  {
    store: "stores/sqlite",
    testFolder: "sqlite",
    tests: [
      "sqlite-stores",
      "sqlite-credit-ledger-model",
      "retention",
      "-t",
      "on libsql:|old entries|beside windows|forget",
    ],
    mutations: sqlite,
  },
  {
    store: "stores/redis",
    testFolder: "redis",
    tests: ["redis-stores", "redis-ways", "memory", "-t", "with ioredis|what the Redis ledger keeps"],
    mutations: redis,
  },
  { store: "stores/mysql", testFolder: "mysql", tests: ["storage/mysql-storage", "mysql-stores"], mutations: mysql },
  {
    store: "stores/postgres",
    testFolder: "postgres",
    tests: ["postgres-stores", "-t", "on pg: the credit ledger"],
    mutations: postgres,
  },
  { store: "stores/postgres", testFolder: "postgres", tests: ["postgres-migrations"], mutations: postgresSchema },
  {
    store: "wire",
    testFolder: "protocols/shortcuts",
    tests: ["native-streams"],
    mutations: shortcuts.templates,
  },
  {
    store: "protocols/chat",
    testFolder: "protocols/shortcuts",
    tests: ["native-streams"],
    mutations: shortcuts.chat,
  },
  {
    store: "protocols/translate",
    testFolder: "protocols/shortcuts",
    tests: ["translated-streams"],
    mutations: shortcuts.translated,
  },
  {
    store: "protocols/responses",
    testFolder: "protocols/shortcuts",
    tests: ["native-streams"],
    mutations: shortcuts.responses,
  },
  {
    store: "protocols/messages",
    testFolder: "protocols/shortcuts",
    tests: ["native-streams"],
    mutations: shortcuts.messages,
  },
];

/** @throws Error when there is none of this name. */
export function findMutation(wanted: string): { store: StoreMutations; mutation: Mutation } {
  for (const store of allMutations) {
    const mutation = store.mutations.find(({ name }) => `${store.store}: ${name}` === wanted);
    if (mutation) return { store, mutation };
  }
  throw new Error(`There is no mutation "${wanted}".`);
}

/**
 * The file that a mutation breaks, and its source when that is done.
 * @throws Error when the line is not there, or more than once.
 */
export function mutate(
  { store }: StoreMutations,
  { name, find, replace, part }: Mutation,
): { path: string; code: string } {
  const folder = fileURLToPath(new URL(`../../../src/${store}`, import.meta.url));
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && (part === undefined || file.endsWith(`${part}.ts`)))
    .flatMap((file) => {
      const path = join(folder, file);
      const pieces = readFileSync(path, "utf8").split(find);
      return pieces.slice(1).map(() => ({ path, code: pieces.join(replace) }));
    });
  const [only] = found;
  if (only === undefined || found.length !== 1) throw new Error(`The mutation "${name}" fits ${found.length} times.`);
  return only;
}
