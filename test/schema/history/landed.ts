/** The stores whose schema is not as the state before has it. */
export type StoreName = "postgres" | "sqlite" | "redis";

/** A state of the main line, by its commit. */
export interface Landed {
  readonly commit: string;
  readonly stores: readonly StoreName[];
  /** What its keys may have beside the members of the first version. */
  readonly keys?: "metadata" | "credits";
  /** It did not note that an account was forgotten. */
  readonly notesForgotten?: boolean;
  /** Whether one of its accounts has had so many calls that there are sums of them in SQLite. */
  readonly isBusy?: true;
}

/** All that left a schema of its own in any store, the first one first. */
export const landed: readonly Landed[] = [
  { commit: "c2fa40a", stores: ["postgres", "sqlite", "redis"], notesForgotten: false },
  { commit: "63408ca", stores: ["postgres", "redis"] },
  { commit: "f53f813", stores: ["postgres"] },
  { commit: "096b066", stores: ["postgres"] },
  { commit: "504ad6f", stores: ["postgres"] },
  { commit: "c216200", stores: ["postgres", "sqlite", "redis"] },
  { commit: "b967f53", stores: ["postgres", "sqlite", "redis"] },
  { commit: "fa9aa77", stores: ["postgres", "sqlite", "redis"], keys: "metadata" },
  { commit: "f646de3", stores: ["postgres", "sqlite", "redis"], keys: "credits" },
  { commit: "da79eb1", stores: ["sqlite"], keys: "credits" },
  { commit: "7e451b6", stores: ["postgres"], keys: "credits" },
  { commit: "9917e1c", stores: ["redis"], keys: "credits" },
  { commit: "9e38a8c", stores: ["postgres"], keys: "credits" },
  { commit: "e2be7b5", stores: ["sqlite"], keys: "credits", isBusy: true },
  { commit: "87270da", stores: ["postgres"], keys: "credits" },
  { commit: "a9f83f5", stores: ["postgres"], keys: "credits" },
  { commit: "ecf89fa", stores: ["postgres", "sqlite"], keys: "credits" },
  { commit: "83d7943", stores: ["postgres"], keys: "credits" },
  { commit: "aec240b", stores: ["postgres"], keys: "credits" },
  { commit: "1bed546", stores: ["postgres", "sqlite", "redis"], keys: "credits" },
  { commit: "31d2bdd", stores: ["sqlite"], keys: "credits" },
  { commit: "45bdd2a", stores: ["sqlite"], keys: "credits" },
  { commit: "6ae6d70", stores: ["postgres", "sqlite"], keys: "credits" },
];

/** Those whose own code is kept, to run beside today's: the first one, and the one before this version. */
export const processes: readonly string[] = ["c2fa40a", "6ae6d70"];
