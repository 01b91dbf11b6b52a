import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const { CHROMIUM_PATH } = process.env;
const usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is, by `CHROMIUM_PATH` or where systems put it. */
export const chromiumPath = CHROMIUM_PATH || usual.find((path) => existsSync(path));

export function launchChromium(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("There is no Chromium here. CHROMIUM_PATH says where one is.");
  // As root there is no sandbox, and containers have little shared memory.
  // `app.test` is this machine, and as any name but `localhost` it is no secure context over plain HTTP.
  const names = "--host-resolver-rules=MAP *.test 127.0.0.1";
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb", names];
  return chromium.launch({ executablePath: chromiumPath, args });
}
