import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { pageFiles } from "../../../src/pages/server/page-files.js";

const bytesOf = (name: string) => Buffer.from(pageFiles.files[name] ?? "", "base64");
const sizeOf = (names: readonly string[]) => names.reduce((sum, name) => sum + bytesOf(name).length, 0);

it.each(["account", "operator"] as const)("the %s page is at most 20 KB of script and style, compressed", (page) => {
  const { script, preloads } = pageFiles[page];
  const names = [script, ...preloads, pageFiles.style];
  expect(names.every((name) => bytesOf(name).length > 0)).toBe(true);
  expect(sizeOf(names)).toBeLessThanOrEqual(20_480);
});

it("names each file by what is in it, and none asks another host", () => {
  const names = Object.keys(pageFiles.files);
  expect(names.every((name) => /^[a-z]+-[A-Z0-9]{8}\.(?:js|css)$/.test(name))).toBe(true);
  const urls = names.flatMap(
    (name) =>
      gunzipSync(bytesOf(name))
        .toString()
        .match(/https?:\/\/[^"'`\s)]+/g) ?? [],
  );
  // Names of vocabularies, which nothing loads.
  expect(
    urls.filter((url) => !/^http:\/\/www\.w3\.org\/(?:2000\/svg|1999\/xhtml|1998\/Math\/MathML)$/.test(url)),
  ).toEqual([]);
});
