import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { postgresVersions } from "../../../src/stores/postgres/schema/postgres-versions.js";
import { sqliteVersions } from "../../../src/stores/sqlite/schema/sqlite-versions.js";
import { readDump, releases, type StoreName } from "./dump.js";
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

  it("has a dump of each version but the newest", () => {
    const versionsIn = (store: StoreName, pattern: RegExp) =>
      releases().map((release) => Number(Array.from(readDump(release, store).text.matchAll(pattern)).at(-1)?.[1]));
    const allButNewest = (versions: readonly string[]) => versions.slice(1).map((_, index) => index + 1);
    expect(versionsIn("postgres", /INTO infergate\.migration VALUES \((\d+)/g)).toEqual(
      expect.arrayContaining(allButNewest(postgresVersions)),
    );
    expect(versionsIn("sqlite", /INTO infergate_meta VALUES \('version', (\d+)/g)).toEqual(
      expect.arrayContaining(allButNewest(sqliteVersions)),
    );
  });

  it("is still there", () => {
    const isOlder = (name: string) => name.startsWith("postgres functions of ");
    const names = Object.keys(released).filter((name) => !isOlder(name));
    expect(Object.keys(releasedTexts())).toEqual(expect.arrayContaining(names));
  });
});
