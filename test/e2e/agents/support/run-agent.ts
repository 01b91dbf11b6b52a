import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as readText } from "node:stream/consumers";
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
  timeLimitMs?: number | undefined;
  /** It is killed then, as by its user. Default: never. */
  stopped?: Promise<unknown> | undefined;
}

/** Runs it to its end, without standard input. Whatever it has started is killed then. */
export async function runAgent(agent: AgentProcess): Promise<AgentRun> {
  const child = spawn(agent.file, agent.args, {
    cwd: agent.folder,
    env: agent.environment,
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own.
    detached: true,
  });
  let isOver = false;
  const killAll = () => {
    // Another process may have its id by now.
    if (isOver) return;
    // The group of the process, and what has left it.
    const group = child.pid === undefined ? [] : [-child.pid];
    for (const id of [...group, ...processesOf(agent.environment.HOME)]) kill(id);
  };
  const timer = setTimeout(killAll, agent.timeLimitMs ?? 120_000);
  void agent.stopped?.then(killAll);
  try {
    const texts = Promise.all([readText(child.stdout), readText(child.stderr)]);
    const [exitCode] = await once(child, "exit");
    // A process that it has left behind would keep the pipes open.
    killAll();
    const [stdout, stderr] = await texts;
    return { stdout, stderr, exitCode };
  } finally {
    clearTimeout(timer);
    isOver = true;
  }
}

function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // It has ended.
  }
}
