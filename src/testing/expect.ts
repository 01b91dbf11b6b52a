import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { inspect, isDeepStrictEqual } from "node:util";

type Type = abstract new (...args: never[]) => unknown;

/** The assertions on a value; a subset of what vitest and Jest have, by the same names. */
interface Matchers {
  toBe(expected: unknown): void;
  toBeNull(): void;
  toBeUndefined(): void;
  /** Members that are undefined count as absent. */
  toEqual(expected: unknown): void;
  /** As `toEqual`, but objects may have members beyond the expected ones. */
  toMatchObject(expected: object): void;
  /** An instance, or one of a type of the same name: a store may have been loaded as the other kind of module. */
  toBeInstanceOf(type: Type): void;
  toBeGreaterThan(bound: number): void;
  toBeGreaterThanOrEqual(bound: number): void;
  toBeLessThan(bound: number): void;
  toBeLessThanOrEqual(bound: number): void;
  toHaveLength(length: number): void;
  toMatch(pattern: RegExp): void;
  /** A part of a text, or an element of an array. */
  toContain(part: unknown): void;
  toContainEqual(element: unknown): void;
  not: { toContain(part: unknown): void };
  /** Of the error with which the promise rejects. */
  rejects: { toBeInstanceOf(type: Type): Promise<void>; toMatchObject(expected: object): Promise<void> };
}

/**
 * Assertions for suites that must run in any test runner: read like those of vitest, and made of `node:assert`, whose
 * errors every runner can show.
 */
export function expect(actual: unknown): Matchers {
  const compare = (holds: boolean, relation: string, bound: unknown) =>
    assert.ok(holds, `Expected ${show(actual)} to be ${relation} ${show(bound)}.`);
  const number = actual as number;
  const list = actual as { length: number; includes(part: unknown): boolean };
  const rejection = async () => {
    const nothing = Symbol();
    const error = await Promise.resolve(actual).then(
      () => nothing,
      (reason: unknown) => reason,
    );
    assert.notEqual(error, nothing, "Expected a rejection.");
    return expect(error);
  };
  return {
    toBe: (expected) => assert.equal(actual, expected),
    toBeNull: () => assert.equal(actual, null),
    toBeUndefined: () => assert.equal(actual, undefined),
    toEqual: (expected) => assert.deepEqual(plain(actual), plain(expected)),
    toMatchObject: (expected) => assert.deepEqual(plain(choose(actual, expected)), plain(expected)),
    toBeInstanceOf: (type) => compare(isInstance(actual, type), "an instance of", type.name),
    toBeGreaterThan: (bound) => compare(number > bound, "greater than", bound),
    toBeGreaterThanOrEqual: (bound) => compare(number >= bound, "at least", bound),
    toBeLessThan: (bound) => compare(number < bound, "less than", bound),
    toBeLessThanOrEqual: (bound) => compare(number <= bound, "at most", bound),
    toHaveLength: (length) => assert.equal(list.length, length, `Expected ${length} elements in ${show(actual)}.`),
    toMatch: (pattern) => assert.match(actual as string, pattern),
    toContain: (part) => assert.ok(list.includes(part), `Expected ${show(actual)} to contain ${show(part)}.`),
    toContainEqual: (element) =>
      assert.ok(
        (actual as unknown[]).some((each) => isDeepStrictEqual(plain(each), plain(element))),
        `Expected ${show(actual)} to contain ${show(element)}.`,
      ),
    not: {
      toContain: (part) => assert.ok(!list.includes(part), `Expected ${show(actual)} not to contain ${show(part)}.`),
    },
    rejects: {
      toBeInstanceOf: async (type) => (await rejection()).toBeInstanceOf(type),
      toMatchObject: async (expected) => (await rejection()).toMatchObject(expected),
    },
  };
}

function isInstance(value: unknown, type: Type): boolean {
  if (value instanceof type) return true;
  return value instanceof Error && value.name === type.name;
}

/** Whether it is made of members: not an error, a date, bytes. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** Without members that are undefined, and whatever its prototype was: drivers have rows of their own kinds. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
}

/** Those members of the value that the expected object has, too. */
function choose(value: unknown, expected: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(expected)) {
    return value.map((element, index) => (index in expected ? choose(element, expected[index]) : element));
  }
  if (!isRecord(expected) || typeof value !== "object" || value === null) return value;
  const members = value as Record<string, unknown>;
  return Object.fromEntries(Object.keys(expected).map((name) => [name, choose(members[name], expected[name])]));
}

function show(value: unknown): string {
  return inspect(value, { depth: 5, breakLength: Number.POSITIVE_INFINITY });
}

/** How long a real server may take to send its notice. */
const timeoutMs = 5_000;
const intervalMs = 5;

/** Waits until the assertion holds. Rejects with what it last threw. */
export async function eventually(assertion: () => void): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      return assertion();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await pause(intervalMs);
  }
}
