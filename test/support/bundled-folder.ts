import { chmodSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Where {@link bundled} writes. */
    bundledFolder: string;
  }
}

/** Makes the folder before all tests, and removes it after them: their own processes are killed when they are done. */
export default function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "infergate-bundled-"));
  // Servers of another user read what is in it.
  chmodSync(folder, 0o711);
  symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
  provide("bundledFolder", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
