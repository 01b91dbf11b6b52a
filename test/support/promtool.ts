import { spawnSync } from "node:child_process";

const binary = process.env["PROMTOOL"] ?? "promtool";

/** Whether Prometheus's own tool is there. Where it is not, what needs it is skipped. */
export const hasPromtool = spawnSync(binary, ["--version"]).status === 0;

/** @returns its exit code, and all that it has said. */
export function promtool(
  args: readonly string[],
  input = "",
): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(binary, args, { input, encoding: "utf8" });
  return { status, said: stdout + stderr };
}
