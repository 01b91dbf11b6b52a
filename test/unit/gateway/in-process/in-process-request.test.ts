import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inProcessURL, toInProcessRequest } from "../../../../src/gateway/in-process/call-in-process.js";

const { origin } = new URL(inProcessURL);
const part = fc.oneof(
  fc.constantFrom(
    "v1",
    "chat",
    "completions",
    "/",
    "//",
    ".",
    "..",
    "%2e",
    "%2F",
    "?",
    "#",
    "a=b",
    "\\",
    "@",
    ":",
    "é",
    " ",
  ),
  fc.string(),
);

describe("the URL of a call in process", () => {
  it("means what a URL parser makes of it", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const url = origin + parts.join("");
        const parsed = URL.canParse(url) ? new URL(url) : undefined;
        const read = () => toInProcessRequest(url, undefined, undefined).target;
        if (parsed?.origin !== origin) expect(read).toThrow(TypeError);
        else expect(read()).toEqual({ path: parsed.pathname, query: parsed.search.slice(1) });
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["/models/../usage", "/v1/usage", ""],
    ["/models/./a", "/v1/models/a", ""],
    ["//models", "/v1//models", ""],
    ["/usage?a=b#c", "/v1/usage", "a=b"],
  ])("%s is %s", (rest, path, query) => {
    expect(toInProcessRequest(inProcessURL + rest, undefined, undefined).target).toEqual({ path, query });
  });
});
