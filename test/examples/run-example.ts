import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

export interface RunningExample {
  baseURL: string;
  /** All that it has printed so far. */
  printed(): string;
  /** Resolves when the pattern is in what it printed. */
  prints(pattern: RegExp): Promise<void>;
  /** Ctrl-C. Resolves with the exit code. */
  interrupt(): Promise<number | null>;
}

/** Starts an example from source, on a random port; without tsx's own process between, which is impatient with Ctrl-C. */
export async function runExample(path: string): Promise<RunningExample> {
  const child: ChildProcess = spawn(process.execPath, ["--import", tsx, `examples/${path}`], {
    cwd: root,
    env: { ...process.env, PORT: "0", UPSTREAM_BASE_URL: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let output = "";
  let waiting: (() => void)[] = [];
  const take = (part: Buffer) => {
    output += part.toString();
    for (const wake of waiting.splice(0)) wake();
  };
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  let exited = false;
  void exit.then(() => {
    exited = true;
    take(Buffer.alloc(0));
  });
  const prints = async (pattern: RegExp) => {
    while (!pattern.test(output)) {
      if (exited) throw new Error(`${path} has ended:\n${output}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const address = /Base URL:?\s+(http:\S+)/;
  await prints(address);
  return {
    baseURL: address.exec(output)?.[1] ?? "",
    printed: () => output,
    prints,
    interrupt: () => {
      waiting = [];
      child.kill("SIGINT");
      return exit;
    },
  };
}
