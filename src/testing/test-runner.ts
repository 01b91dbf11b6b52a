import { env } from "node:process";
import { describe as nodeDescribe, it as nodeIt } from "node:test";
import { format } from "node:util";

/**
 * The functions of a test runner: those of vitest, of Jest and its like, or of `node:test`; the whole module will do.
 * Default: the globals `describe` and `it` where there are such, else those of `node:test`.
 */
export interface TestRunner {
  describe?: DefineSuite | undefined;
  /** Default: `test`. */
  it?: DefineTest | undefined;
  test?: DefineTest | undefined;
}

type DefineSuite = (name: string, body: () => void) => unknown;
type DefineTest = (name: string, body: () => Promise<void>) => unknown;

/** What a test is given. */
interface TestContext {
  /** Has the test reported as skipped, where the runner can. The test must return thereafter. */
  skip(reason: string): void;
}

type DefineCases = {
  <const Row extends readonly unknown[]>(
    rows: readonly Row[],
  ): (title: string, body: (...row: [...Row]) => Promise<void>) => void;
  <Value>(values: readonly Value[]): (title: string, body: (value: Value) => Promise<void>) => void;
};

/** The same functions for every runner. */
export interface AnyRunner {
  describe(name: string, body: () => void): void;
  it: {
    (title: string, body: (context: TestContext) => Promise<void>): void;
    /** A test for each row or value; the title's `%s`, `%i` and `%j` stand for them in turn. */
    each: DefineCases;
    runIf(condition: boolean): (title: string, body: () => Promise<void>) => void;
  };
}

/** @throws TypeError when the runner must be given and is not. */
export function testRunnerOf(given: TestRunner = {}): AnyRunner {
  const { describe, it } = functionsOf(given);
  const define = (title: string, body: (context: TestContext) => Promise<void>): void => {
    // No parameter of its own: Jest and node:test take one for a callback to wait for.
    void it(title, (...contexts: unknown[]) => body({ skip: (reason) => skipIn(contexts[0], reason) }));
  };
  const each = (rows: readonly unknown[]) => (title: string, body: (...row: unknown[]) => Promise<void>) => {
    for (const row of rows) {
      const values = Array.isArray(row) ? row : [row];
      const named = values.slice(0, title.match(/%[a-zA-Z]/g)?.length ?? 0);
      define(format(title, ...named), () => body(...values));
    }
  };
  return {
    describe: (name, body) => void describe(name, body),
    it: Object.assign(define, {
      each: each as DefineCases,
      runIf: (condition: boolean) => (condition ? define : () => {}),
    }),
  };
}

function functionsOf(given: TestRunner): { describe: DefineSuite; it: DefineTest } {
  for (const { describe, it, test } of [given, globalThis as TestRunner]) {
    const define = it ?? test;
    if (typeof describe === "function" && typeof define === "function") return { describe, it: define };
    if (describe ?? define) throw new TypeError("The test runner needs both: pass { describe, it }.");
  }
  if (env["VITEST"] !== undefined || env["JEST_WORKER_ID"] !== undefined) {
    throw new TypeError(
      'The test runner has no global describe and it: pass them as the last argument, as in { describe, it } from "vitest".',
    );
  }
  return { describe: nodeDescribe, it: nodeIt };
}

function skipIn(context: unknown, reason: string): void {
  (context as { skip?: (reason: string) => void } | undefined)?.skip?.(reason);
}
