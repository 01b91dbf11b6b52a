import type { Page } from "playwright-core";

/** Until nothing on the page is still being loaded. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main .card, main.alone").first().waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
}

/** Lets the page ask anew, as it does when it comes into sight. */
export async function comeBack(page: Page): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
}
