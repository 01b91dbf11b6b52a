import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Visits } from "./visits.js";

const { CHROMIUM_PATH, REQUIRE_BROWSER } = process.env;
const usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is, by `CHROMIUM_PATH` or where systems put it. */
export const chromiumPath = CHROMIUM_PATH ?? usual.find((path) => existsSync(path));

export function launchChromium(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("There is no Chromium here. CHROMIUM_PATH says where one is.");
  // As root there is no sandbox, and containers have little shared memory.
  // `app.test` is this machine, and as any name but `localhost` it is no secure context over plain HTTP.
  const names = "--host-resolver-rules=MAP *.test 127.0.0.1";
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb", names];
  return chromium.launch({ executablePath: chromiumPath, args });
}

/**
 * Tests in a real browser: skipped with a notice where there is none, failing with `REQUIRE_BROWSER=1`. After each test all of
 * its pages are closed; it fails when one has logged an error, thrown one, or broken its content security policy.
 */
export function describeInBrowser(name: string, tests: (visits: Visits) => void): void {
  if (chromiumPath === undefined) {
    if (REQUIRE_BROWSER !== "1") {
      console.warn(`SKIPPED: ${name}: there is no Chromium here. CHROMIUM_PATH says where one is.`);
    }
    const suite = REQUIRE_BROWSER === "1" ? describe : describe.skip;
    suite(name, () => it("has a browser", () => expect(chromiumPath).toBeDefined()));
    return;
  }
  describe(name, () => {
    const visits = new Visits();
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
      visits.browser = browser;
    });
    afterEach(async () => expect(await visits.end()).toEqual([]));
    afterAll(() => browser?.close());
    tests(visits);
  });
}
