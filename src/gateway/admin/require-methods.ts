const kinds = {
  key: { contract: "WritableKeyStore", inMemory: "memoryKeyStore" },
  plan: { contract: "WritablePlanStore", inMemory: "memoryPlanStore" },
  account: { contract: "WritableAccountStore", inMemory: "memoryAccountStore" },
};

/**
 * Returns the store if it has these methods.
 * @throws TypeError that says what to do if it lacks one.
 */
export function requireMethods<Store extends object>(
  by: string,
  kind: keyof typeof kinds,
  store: object,
  methods: readonly (keyof Store & string)[],
): Store {
  const missing = methods.filter((method) => typeof (store as Record<string, unknown>)[method] !== "function");
  if (missing.length === 0) return store as Store;
  const names = missing.map((method) => `\`${method}\``).join(", ");
  const { contract, inMemory } = kinds[kind];
  throw new TypeError(
    `${by}: the gateway's ${kind} store lacks ${names}. Use the one of sqliteStores, redisStores or postgresStores, or ` +
      `${inMemory}; or give yours the methods of ${contract}; or go on managing ${kind}s where your store finds them.`,
  );
}
