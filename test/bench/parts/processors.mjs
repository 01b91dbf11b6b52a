import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

const count = cpus().length;

/** Which processor each process is pinned to: the gateway has one for itself. */
export const processors = { gateway: 0, upstream: 1, load: count > 2 ? 2 : 1 };

const canPin =
  count > 1 &&
  Object.values(processors).every((number) => spawnSync("taskset", ["-c", String(number), "true"]).status === 0);

export const pinning = canPin ? { ...processors } : null;

/** @returns the command, by `taskset` where the system has it. */
export function pinnedCommand(processor, command) {
  return canPin ? ["taskset", "-c", String(processor), ...command] : command;
}
