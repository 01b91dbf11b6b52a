import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

/** Who visits a page, and with what. */
export interface Visitor {
  /** The name in the cookie that hosts of tests ask for. Default: nobody. */
  readonly user?: string;
  /** Pixels. Default: 1280. */
  readonly width?: number;
  /** Default: light. */
  readonly scheme?: "light" | "dark";
  /** What the console may say in this test, such as of a status that is meant. */
  readonly allow?: readonly RegExp[];
  readonly context?: BrowserContextOptions;
}

/** The pages that a test has open, and what went wrong in them. */
export class Visits {
  browser: Browser | undefined;
  readonly #contexts: BrowserContext[] = [];
  readonly #problems: string[] = [];

  /** Opens an address in a browser of its own, with no cookies but the visitor's. */
  async open(url: string, visitor: Visitor = {}): Promise<Page> {
    const { width = 1280, scheme = "light" } = visitor;
    if (this.browser === undefined) throw new Error("The browser is not there yet.");
    const context = await this.browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: scheme,
      locale: "en-US",
      timezoneId: "Europe/Berlin",
      reducedMotion: "reduce",
      ...visitor.context,
    });
    this.#contexts.push(context);
    // Against what hangs: how fast a page is no test may depend on.
    context.setDefaultTimeout(90_000);
    if (visitor.user !== undefined) await signIn(context, visitor.user, url);
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
        console.error(`content security policy: ${violatedDirective} ${blockedURI}`),
      );
    });
    const page = await context.newPage();
    this.#watch(page, visitor.allow ?? []);
    await page.goto(url);
    return page;
  }

  /** @returns what went wrong. */
  async end(): Promise<readonly string[]> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
    return this.#problems.splice(0);
  }

  #watch(page: Page, allow: readonly RegExp[]): void {
    const note = (problem: string) => {
      if (!allow.some((pattern) => pattern.test(problem))) this.#problems.push(problem);
    };
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) note(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => note(`thrown: ${error.message}`));
  }
}

/** For all paths of the address's origin. */
export async function signIn(context: BrowserContext, user: string, url: string): Promise<void> {
  await context.addCookies([{ name: "user", value: user, url: new URL(url).origin }]);
}
