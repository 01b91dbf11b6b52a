import { mkdirSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const { PAGES_SCREENSHOTS } = process.env;

/** The widths at which pages are looked at. */
export const widths = [320, 768, 1280] as const;
export const schemes = ["light", "dark"] as const;

/** Fails on whatever axe finds: WCAG 2.2 A and AA, and best practice. */
export async function expectAccessible(page: Page): Promise<void> {
  // By the debugger, to which the page's policy does not apply.
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
  });
  expect(found).toEqual([]);
}

/** Nothing is wider than the window, so that nobody has to scroll sideways. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth] as const;
  });
  expect(content).toBeLessThanOrEqual(window);
}

/** Keeps a picture in the folder that `PAGES_SCREENSHOTS` names, for people to look at. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (PAGES_SCREENSHOTS === undefined) return;
  mkdirSync(PAGES_SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(PAGES_SCREENSHOTS, `${name}.png`), fullPage: true });
}
