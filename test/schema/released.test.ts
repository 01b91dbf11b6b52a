import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { releasedTexts } from "./released-texts.js";

const released: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("released.json", import.meta.url), "utf8"),
);

describe("what is released of the schemas", () => {
  it.each(Object.entries(releasedTexts()))("is in the list, and not edited: %s", (name, digest) => {
    expect(released[name], "It is new: run `npm run schema:release`.").toBeDefined();
    expect(digest, "It was released: take the edit back, and add a version instead. See docs/adding/schema.md.").toBe(
      released[name],
    );
  });

  it("is still there", () => {
    const isOlder = (name: string) => name.startsWith("postgres functions of ");
    const names = Object.keys(released).filter((name) => !isOlder(name));
    expect(Object.keys(releasedTexts())).toEqual(expect.arrayContaining(names));
  });
});
