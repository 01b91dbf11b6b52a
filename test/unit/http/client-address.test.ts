import { describe, expect, it } from "vitest";
import { clientAddress } from "../../../src/http/client-address.js";

describe("the client's address", () => {
  it.each([
    // No proxy is believed: the header is a claim.
    ["198.51.100.1", "203.0.113.7", 0, "198.51.100.1"],
    [undefined, "203.0.113.7", 0, undefined],
    // One proxy: it has added whom it got the request from.
    ["10.0.0.1", "203.0.113.7", 1, "203.0.113.7"],
    ["10.0.0.1", "1.1.1.1, 203.0.113.7", 1, "203.0.113.7"],
    [undefined, "1.1.1.1, 203.0.113.7", 1, "203.0.113.7"],
    // Two: the last address is the first proxy's.
    ["10.0.0.1", "1.1.1.1, 203.0.113.7 ,10.0.0.2", 2, "203.0.113.7"],
    // It has come past the proxies.
    ["198.51.100.1", undefined, 1, "198.51.100.1"],
    ["198.51.100.1", "203.0.113.7", 2, "198.51.100.1"],
    [undefined, undefined, 1, undefined],
  ])("of a connection from %s with %s behind %i is %s", (peer, forwarded, proxies, expected) => {
    expect(clientAddress(peer, forwarded, proxies)).toBe(expected);
  });

  it.each([
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:4711", "203.0.113.7"],
    ["[2001:DB8::1]:4711", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["::1", "::1"],
    ["64:ff9b::192.0.2.33", "64:ff9b::192.0.2.33"],
    ["unknown", undefined],
    ["_hidden", undefined],
    ["", undefined],
    ["203.0.113.7; drop table", undefined],
    ["1.2.3", undefined],
    ["a".repeat(10_000), undefined],
  ])("%s is read as %s", (said, expected) => {
    expect(clientAddress("10.0.0.1", said, 1)).toBe(expected);
    expect(clientAddress(said, undefined, 0)).toBe(expected);
  });
});
