import { type ChildProcess, spawn } from "node:child_process";
import { bundled } from "../../support/bundled.js";
import { root } from "./documentation.js";

export interface RunningExample {
  baseURL: string;
  /** All that it has printed so far. */
  printed(): string;
  /** Resolves when the pattern is in what it printed. */
  prints(pattern: RegExp): Promise<void>;
  /** Ctrl-C. Resolves with the exit code. */
  interrupt(): Promise<number | null>;
  /** For what is left of a test that failed. */
  kill(): Promise<void>;
}

/**
 * Starts an example on a random port, unless one is given.
 *
 * @param path - within `examples`, and flags behind it.
 * @param form - `source` is what `npm run demo` starts; `bundled` starts much faster.
 */
export async function runExample(
  path: string,
  environment: Record<string, string> = {},
  form: "bundled" | "source" = "bundled",
): Promise<RunningExample> {
  const [script = "", ...flags] = path.split(" ");
  const file = `${root}examples/${script}`;
  // Not by tsx's own command: it kills a process that does not heed a signal within milliseconds.
  const words = [...(form === "source" ? ["--import", "tsx", file] : [await bundled(file)]), ...flags];
  const child: ChildProcess = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, PORT: "0", UPSTREAM_BASE_URL: "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  let output = "";
  const waiting: (() => void)[] = [];
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
  // The last of what it prints at its start.
  await prints(/^Ctrl-C ends it\./m);
  return {
    baseURL: /Base URL\s+(http:\S+)/.exec(output)?.[1] ?? "",
    printed: () => output,
    prints,
    interrupt: () => {
      child.kill("SIGINT");
      return exit;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exit;
    },
  };
}
