import { spawn } from "node:child_process";
import { once } from "node:events";
import { processesOf } from "./leftover-processes.js";

export interface AgentRun {
  stdout: string;
  stderr: string;
  /** `null`: the process was killed by a signal. */
  exitCode: number | null;
}

export interface AgentProcess {
  file: string;
  args: readonly string[];
  folder: string;
  /** The whole environment: nothing of this process's own goes with it. */
  environment: Readonly<Record<string, string>> & { readonly HOME: string };
  /** After that it hangs, and is killed. Default: two minutes. */
  timeLimitMs?: number;
}

/** Runs it to its end, without standard input. Whatever it has started is killed then. */
export async function runAgent({
  file,
  args,
  folder,
  environment,
  timeLimitMs = 120_000,
}: AgentProcess): Promise<AgentRun> {
  const child = spawn(file, args, {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own.
    detached: true,
  });
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.stderr += text;
  });
  const killAll = () => {
    // The group of the process, and what has left it.
    for (const id of [...(child.pid === undefined ? [] : [-child.pid]), ...processesOf(environment.HOME)]) kill(id);
  };
  const timer = setTimeout(killAll, timeLimitMs);
  try {
    const [exitCode] = await once(child, "exit");
    // A process that it has left behind would keep the pipes open.
    killAll();
    await Promise.all([child.stdout, child.stderr].map((pipe) => (pipe.closed ? undefined : once(pipe, "close"))));
    return { ...printed, exitCode };
  } finally {
    clearTimeout(timer);
    killAll();
  }
}

function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // It has ended.
  }
}
