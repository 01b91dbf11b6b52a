import { spawnSync } from "node:child_process";

/** Whether the system has this program. */
export function isInstalled(program) {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}
