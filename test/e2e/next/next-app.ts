import { type ChildProcess, execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

export type Settings = Readonly<Record<string, string>>;

export function exampleFolder(name: string): string {
  return `${root}examples/${name}`;
}

/** An app of Next.js. */
export class NextApp {
  readonly #folder: string;
  readonly #settings: Settings;
  #server: ChildProcess | undefined;
  #origin = "";

  /** @param settings - of its environment, as it is built and as it runs. */
  constructor(folder: string, settings: Settings) {
    this.#folder = folder;
    this.#settings = { ...settings, NEXT_TELEMETRY_DISABLED: "1" };
  }

  get origin(): string {
    return this.#origin;
  }

  /** `next build`, with the packages that `npm run next:install` has brought. */
  async build(): Promise<void> {
    await this.#execute(process.execPath, this.#folder, ["node_modules/next/dist/bin/next", "build"]);
  }

  /** Runs a script of its package. */
  run(script: string): Promise<void> {
    return this.#run(this.#folder, "run", script);
  }

  /** `next start`, on a free port. */
  async start(): Promise<void> {
    const server = spawn(process.execPath, ["node_modules/next/dist/bin/next", "start", "-p", "0", "-H", "127.0.0.1"], {
      cwd: this.#folder,
      env: { ...process.env, ...this.#settings },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#server = server;
    this.#origin = await new Promise<string>((resolve, reject) => {
      let printed = "";
      server.stdout.on("data", (part: Buffer) => {
        printed += part.toString();
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
        if (found !== undefined && printed.includes("Ready")) resolve(found);
      });
      server.once("exit", () => reject(new Error(`next start has ended:\n${printed}`)));
    });
  }

  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exit = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await exit;
  }

  #run(cwd: string, ...words: string[]): Promise<void> {
    return this.#execute(npm, cwd, words);
  }

  async #execute(program: string, cwd: string, words: string[]): Promise<void> {
    const env = { ...process.env, ...this.#settings };
    await promisify(execFile)(program, words, { cwd, env, maxBuffer: 10_000_000 });
  }
}
