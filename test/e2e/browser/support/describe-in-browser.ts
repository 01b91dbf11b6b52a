import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, launchChromium } from "./chromium.js";
import { Visits } from "./visits.js";

const { REQUIRE_BROWSER } = process.env;

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
    afterAll(() => browser?.close());
    tests(visits);
    // The last hook runs first: pages are closed before their hosts are.
    afterEach(async () => expect(await visits.end()).toEqual([]));
  });
}
