import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { makeAgentFolders } from "./agent-folders.js";
import { processesOf } from "./leftover-processes.js";
import { runAgent } from "./run-agent.js";

const path = process.env["PATH"] ?? "";

async function runCommands(commands: string, timeLimitMs?: number) {
  const folders = makeAgentFolders();
  const process = { file: "sh", args: ["-c", commands], folder: folders.work };
  const limit = timeLimitMs === undefined ? {} : { timeLimitMs };
  try {
    const run = await runAgent({ ...process, environment: { PATH: path, HOME: folders.home }, ...limit });
    await expect.poll(() => processesOf(folders.home)).toEqual([]);
    return run;
  } finally {
    folders.remove();
    expect(existsSync(folders.home)).toBe(false);
  }
}

it("gives what a process has printed, and its exit code", async () => {
  const run = await runCommands('echo "$HOME"; echo no >&2; exit 3');
  expect(run).toEqual({ stdout: expect.stringMatching(/home\n$/), stderr: "no\n", exitCode: 3 });
});

it("kills what a process has left behind in its group, and keeps no pipe open for it", async () => {
  expect(await runCommands("sleep 600 & echo done")).toMatchObject({ stdout: "done\n", exitCode: 0 });
});

it.runIf(process.platform === "linux")("kills what has left its group, too", async () => {
  expect(await runCommands("setsid -f sleep 600; echo done")).toMatchObject({ stdout: "done\n" });
});

it("kills what hangs", async () => {
  expect(await runCommands("echo begun; sleep 600", 200)).toEqual({ stdout: "begun\n", stderr: "", exitCode: null });
});
