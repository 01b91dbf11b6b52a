const attempts = 5;
const firstPauseMs = 5;

/** Serialization failure, deadlock, and a key that another transaction has just inserted: the next attempt sees it. */
const duplicateKey = "23505";
const transient = new Set(["40001", "40P01", duplicateKey]);

export function isTransient(code: string): boolean {
  return transient.has(code);
}

/** Runs a statement that is a transaction of its own, again if it lost to another one. */
export async function retryTransient<Result>(
  statement: () => Promise<Result>,
  isRetried = isTransient,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await statement();
    } catch (error) {
      const code = sqlState(error);
      if (code === undefined || !isRetried(code) || attempt === attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** attempt * Math.random()));
    }
  }
}

/** Whether a key is there already, also after the last attempt. */
export function isDuplicateKey(error: unknown): boolean {
  return sqlState(error) === duplicateKey;
}

/** PostgreSQL's code for the error; `undefined` for an error of another origin. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
