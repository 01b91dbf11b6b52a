import { type ChildProcess, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";

const environment = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

/** Runs a script of npm in a folder, to its end. */
export async function runNpm(folder: string, ...words: string[]): Promise<void> {
  await promisify(execFile)(npm, words, { cwd: folder, env: environment, maxBuffer: 10_000_000 });
}

/** Builds an app, with the packages that its folder has. */
export async function buildNext(folder: string): Promise<void> {
  const words = ["node_modules/next/dist/bin/next", "build"];
  await promisify(execFile)(process.execPath, words, { cwd: folder, env: environment, maxBuffer: 10_000_000 });
}

export interface NextServer {
  readonly origin: string;
  close(): Promise<void>;
}

/** Starts an app that is built. */
export async function startNext(folder: string, env: Readonly<Record<string, string>>): Promise<NextServer> {
  const words = ["node_modules/next/dist/bin/next", "start", "-p", "0", "-H", "127.0.0.1"];
  const server = spawn(process.execPath, words, {
    cwd: folder,
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { origin: await originOf(server), close: () => close(server) };
}

function originOf(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = "";
    server.stdout?.on("data", (part: Buffer) => {
      printed += part.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
      if (found !== undefined && printed.includes("Ready")) resolve(found);
    });
    server.once("exit", () => reject(new Error(`next start has ended:\n${printed}`)));
  });
}

async function close(server: ChildProcess): Promise<void> {
  const exit = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await exit;
}
