import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import type { Crumb, DeathPoint } from "./death-points.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** fixtures/gateway.ts in one file: a process starts some five times as fast from it. */
export class GatewayProgram {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async build(): Promise<GatewayProgram> {
    const folder = await mkdtemp(join(tmpdir(), "infergate-processes-"));
    await symlink(`${root}node_modules`, join(folder, "node_modules"));
    await build({
      config: false,
      entry: [`${root}test/processes/fixtures/gateway.ts`],
      tsconfig: `${root}tsconfig.json`,
      outDir: join(folder, "dist"),
      outExtension: () => ({ js: ".mjs" }),
      format: "esm",
      target: "node20",
      splitting: false,
      skipNodeModulesBundle: true,
      removeNodeProtocol: false,
      silent: true,
    });
    return new GatewayProgram(folder);
  }

  start(environment: Record<string, string>, upstream: string, leaseMs: number): Promise<GatewayProcess> {
    return GatewayProcess.start(join(this.#folder, "dist/gateway.mjs"), environment, [upstream, String(leaseMs)]);
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true });
  }
}

/** A gateway in a process of its own. */
export class GatewayProcess {
  /** Resolves when the process has ended, and all that it said is here. */
  readonly ended: Promise<void>;
  /** What went to its store, and came back. */
  readonly crumbs: Crumb[] = [];
  readonly #child: ChildProcess;
  readonly #answers: Record<string, unknown>[] = [];
  #wake = () => {};
  #isOver = false;
  #port = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
    lines.on("line", (line) => {
      const said = JSON.parse(line);
      (said.step === undefined ? this.#answers : this.crumbs).push(said);
      this.#wake();
    });
    // What is said to a process that has just died.
    child.stdin?.on("error", () => {});
    const closed = [
      new Promise((resolve) => child.once("close", resolve)),
      new Promise((resolve) => lines.once("close", resolve)),
    ];
    this.ended = Promise.all(closed).then(() => {
      this.#isOver = true;
      this.#wake();
    });
  }

  static async start(file: string, environment: Record<string, string>, words: string[]): Promise<GatewayProcess> {
    const child = spawn(process.execPath, [file, ...words], {
      env: { ...process.env, DATABASE: "", REDIS_URL: "", DATABASE_URL: "", ...environment },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const started = new GatewayProcess(child);
    started.#port = (await started.#answer<{ port: number }>()).port;
    return started;
  }

  /** How it has ended. */
  get signal(): NodeJS.Signals | null {
    return this.#child.signalCode;
  }

  /** A chat completion; further members of the request, such as `stream`, in the body. */
  call(key: string, body: object, signal?: AbortSignal): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#port}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hello!" }], ...body }),
      ...(signal ? { signal } : {}),
    });
  }

  /** Has it killed when its ledger comes to this point. */
  async dieAt(point: DeathPoint, count: number): Promise<void> {
    this.#child.stdin?.write(`die ${point.replaceAll(" ", "_")} ${count}\n`);
    await this.#answer();
  }

  /** Closes it. @returns what its hook has heard: the charges of all requests, by their ids. */
  async end(): Promise<[requestId: string, micro: number][]> {
    this.#child.stdin?.end("end\n");
    const { charges } = await this.#answer<{ charges: [string, number][] }>();
    await this.ended;
    return charges;
  }

  /** For what is left of a test that failed. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  async #answer<Answer>(): Promise<Answer> {
    while (this.#answers.length === 0) {
      if (this.#isOver) throw new Error("The gateway's process has ended.");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#answers.shift() as Answer;
  }
}
