import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundled } from "../../support/bundled.js";
import { postJson } from "../../support/post-json.js";
import type { Crumb } from "./crumb.js";
import type { DeathPoint } from "./death-points.js";

const program = fileURLToPath(new URL("fixtures/gateway.ts", import.meta.url));

/** A gateway in a process of its own. */
export class GatewayProcess {
  /** Resolves when the process has ended, and all of its output is here. */
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
    // A write to a process that has just died.
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

  static async start(environment: Record<string, string>, upstream: string, leaseMs: number): Promise<GatewayProcess> {
    const child = spawn(process.execPath, [await bundled(program), upstream, String(leaseMs)], {
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
    const usual = { model: "acme/small", messages: [{ role: "user", content: "Hello!" }] };
    return this.post("/v1/chat/completions", key, { ...usual, ...body }, signal);
  }

  post(path: string, key: string, body: object, signal?: AbortSignal): Promise<Response> {
    return postJson(`http://127.0.0.1:${this.#port}${path}`, key, body, signal);
  }

  /** Has it killed when its ledger comes to this point. */
  async dieAt(point: DeathPoint, count: number): Promise<void> {
    this.#child.stdin?.write(`die ${point.replaceAll(" ", "_")} ${count}\n`);
    await this.#answer();
  }

  /** Closes it. @returns the charges of all requests that its hook has got, by their ids. */
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
