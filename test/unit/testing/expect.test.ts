import { describe, expect, it } from "vitest";
import { expect as assertThat } from "../../../src/testing/expect.js";

class NamedError extends Error {
  override readonly name = "NamedError";
}
/** As from the other kind of module. */
const twin = Object.assign(new Error("x"), { name: "NamedError" });
const row = Object.assign(Object.create(null), { a: 1 });

type Assertion = () => unknown;

describe("the suites' assertions", () => {
  it.each<[string, Assertion, Assertion]>([
    ["toBe", () => assertThat(1).toBe(1), () => assertThat({}).toBe({})],
    ["toBeNull", () => assertThat(null).toBeNull(), () => assertThat(undefined).toBeNull()],
    ["toBeUndefined", () => assertThat(undefined).toBeUndefined(), () => assertThat(null).toBeUndefined()],
    ["toEqual", () => assertThat(row).toEqual({ a: 1, b: undefined }), () => assertThat({ a: 1 }).toEqual({})],
    ["toEqual, deep", () => assertThat([{ a: [row] }]).toEqual([{ a: [{ a: 1 }] }]), () => assertThat([1]).toEqual([])],
    ["toEqual, of types", () => assertThat([1]).toEqual([1]), () => assertThat(["1"]).toEqual([1])],
    [
      "toMatchObject",
      () => assertThat({ a: { b: 1, c: 2 } }).toMatchObject({ a: { b: 1 } }),
      () => assertThat({ a: 1 }).toMatchObject({ a: 2 }),
    ],
    [
      "toMatchObject, absent",
      () => assertThat({}).toMatchObject({ a: undefined }),
      () => assertThat(undefined).toMatchObject({ a: 1 }),
    ],
    [
      "toMatchObject, lists",
      () => assertThat([{ a: 1, b: 2 }]).toMatchObject([{ a: 1 }]),
      () => assertThat([{ a: 1 }, {}]).toMatchObject([{ a: 1 }]),
    ],
    [
      "toBeInstanceOf",
      () => assertThat(new NamedError()).toBeInstanceOf(Error),
      () => assertThat(new Error("x")).toBeInstanceOf(NamedError),
    ],
    [
      "toBeInstanceOf, by name",
      () => assertThat(twin).toBeInstanceOf(NamedError),
      () => assertThat({ name: "NamedError" }).toBeInstanceOf(NamedError),
    ],
    ["toBeGreaterThan", () => assertThat(2).toBeGreaterThan(1), () => assertThat(1).toBeGreaterThan(1)],
    [
      "toBeGreaterThanOrEqual",
      () => assertThat(1).toBeGreaterThanOrEqual(1),
      () => assertThat(0).toBeGreaterThanOrEqual(1),
    ],
    ["toBeLessThan", () => assertThat(0).toBeLessThan(1), () => assertThat(1).toBeLessThan(1)],
    ["toBeLessThanOrEqual", () => assertThat(1).toBeLessThanOrEqual(1), () => assertThat(2).toBeLessThanOrEqual(1)],
    ["toHaveLength", () => assertThat("ab").toHaveLength(2), () => assertThat([]).toHaveLength(2)],
    ["toMatch", () => assertThat("ab").toMatch(/b$/), () => assertThat("ab").toMatch(/a$/)],
    ["toContain", () => assertThat(["a"]).toContain("a"), () => assertThat("abc").toContain("d")],
    ["not.toContain", () => assertThat("abc").not.toContain("d"), () => assertThat("abc").not.toContain("b")],
    [
      "toContainEqual",
      () => assertThat([row]).toContainEqual({ a: 1 }),
      () => assertThat([row]).toContainEqual({ a: 2 }),
    ],
    [
      "rejects",
      () => assertThat(Promise.reject(twin)).rejects.toMatchObject({ message: "x" }),
      () => assertThat(Promise.resolve(twin)).rejects.toMatchObject({}),
    ],
    [
      "rejects, as",
      () => assertThat(Promise.reject(twin)).rejects.toBeInstanceOf(NamedError),
      () => assertThat(Promise.reject(1)).rejects.toBeInstanceOf(Error),
    ],
  ])("%s", async (_name, holds, fails) => {
    await holds();
    await expect((async () => fails())()).rejects.toMatchObject({ code: "ERR_ASSERTION" });
  });
});
