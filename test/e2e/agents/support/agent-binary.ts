import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;
const suffix = process.platform === "win32" ? ".exe" : "";

/** Codex itself, without the script that starts it: a signal to that one would leave it running. */
export function codexBinary(): string {
  const vendor = join(packageFolder(`@openai/codex-${platform}`), "vendor");
  const [triple = ""] = readdirSync(vendor);
  return join(vendor, triple, "bin", `codex${suffix}`);
}

/** Claude Code itself. */
export function claudeCodeBinary(): string {
  return join(packageFolder(`@anthropic-ai/claude-code-${platform}`), `claude${suffix}`);
}

function packageFolder(name: string): string {
  return dirname(resolve(`${name}/package.json`));
}
