import { describe, expect, it } from "vitest";
import { storeFault, withStoreFault } from "../../../src/events/store-fault.js";
import { LedgerUnavailableError } from "../../../src/ledger/credit-ledger.js";

const failed = (message: string, members: object = {}) => Object.assign(new Error(message), members);

describe("what is wrong with a database", () => {
  it.each<[unknown, RegExp]>([
    [
      failed('password authentication failed for user "app"', { code: "28P01" }),
      /^it refuses the user or the password/,
    ],
    [failed("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string"), /the password \(SASL\)$/],
    [failed('relation "infergate.keys" does not exist', { code: "42P01" }), /^a table or function is missing/],
    [failed("cannot execute INSERT in a read-only transaction", { code: "25006" }), /^it is read only/],
    [failed("WRONGPASS invalid username-password pair"), /^it refuses the user or the password \(WRONGPASS\)$/],
    [failed("NOAUTH Authentication required."), /^it refuses the user or the password/],
    [failed("NOPERM User app has no permissions to run the 'evalsha' command"), /^its user lacks a permission/],
    [failed("OOM command not allowed when used memory > 'maxmemory'."), /^its disk or its memory is full/],
    [failed("connect ECONNREFUSED", { code: "ECONNREFUSED" }), /^nothing answers at its address/],
    [failed("self-signed certificate", { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }), /^its certificate is not trusted/],
    [failed("attempt to write a readonly database", { code: "SQLITE_READONLY" }), /^it is read only/],
    [failed("database or disk is full", { code: "ERR_SQLITE_ERROR", errcode: 13 }), /^its disk or its memory is full/],
    [failed("disk I/O", { code: "ERR_SQLITE_ERROR", errcode: 8 | (2 << 8) }), /^it is read only/],
    [new LedgerUnavailableError("x", { cause: failed("no", { code: "42501" }) }), /^its user lacks a permission/],
  ])("is told in words: %s", (cause, words) => {
    expect(storeFault(cause)).toMatch(words);
    expect(storeFault(cause)).not.toMatch(/app|infergate\.keys/);
  });

  it.each<unknown>([
    undefined,
    null,
    "28P01",
    failed("it went wrong"),
    failed("deadlock detected", { code: "40P01" }),
    failed("no", { code: 28 }),
  ])("is not told where it is not known: %s", (cause) => {
    expect(storeFault(cause)).toBeUndefined();
  });

  it("is not told of what cannot be looked at", () => {
    const get = (): never => {
      throw new Error("not for you");
    };
    expect(storeFault(new Proxy({}, { get }))).toBeUndefined();
    expect(storeFault(Object.defineProperty(new Error("no"), "code", { get }))).toBeUndefined();
  });

  it("of errors that name each other is looked for no longer than that", () => {
    const one = failed("one");
    const other = failed("other", { cause: one });
    Object.assign(one, { cause: other });
    expect(storeFault(one)).toBeUndefined();
  });
});

it("is told of stores alone", () => {
  const cause = failed("connect ECONNREFUSED", { code: "ECONNREFUSED" });
  const upstream = { code: "upstream_failed", message: "The model did not answer.", cause } as const;
  expect(withStoreFault(upstream)).toBe(upstream);
  expect(withStoreFault({ code: "ledger_failed", message: "It failed.", cause }).message).toBe(
    "It failed. What is wrong with its database: nothing answers at its address (ECONNREFUSED).",
  );
});
