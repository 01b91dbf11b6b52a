import { readFileSync } from "node:fs";
import type { SpendingStep } from "./spending-step.js";

/** What a process has written, up to its end. The line at which it was killed may be cut. */
export function readSteps(file: string): SpendingStep[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
