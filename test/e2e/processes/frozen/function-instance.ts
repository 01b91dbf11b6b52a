import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundled } from "../../../support/bundled.js";

const program = fileURLToPath(new URL("../fixtures/function.ts", import.meta.url));

interface Said {
  readonly port?: number;
  readonly ended?: string;
  readonly connections?: number;
}

/** What a serverless host starts a process with. */
export interface FunctionSettings {
  readonly upstream: string;
  /** The address of the pooler. */
  readonly database: string;
  /** Whether the host gives the function a `waitUntil`. */
  readonly waits: boolean;
}

/** A process of a serverless host: it is frozen between its requests. */
export class FunctionInstance {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #ended = new Map<string, () => void>();
  #started: (port: number) => void = () => {};
  #port = 0;
  /** The most connections to the pooler that it had at the end of a request. */
  connections = 0;
  /** How many requests it has had. */
  calls = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = new Promise((resolve) => child.once("close", resolve));
    const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
    lines.on("line", (line) => this.#hear(JSON.parse(line)));
  }

  static async start({ upstream, database, waits }: FunctionSettings): Promise<FunctionInstance> {
    const args = [await bundled(program), upstream, database, waits ? "waits" : "hurries"];
    const instance = new FunctionInstance(
      spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, DATABASE_URL: "" } }),
    );
    instance.#port = await new Promise<number>((resolve, reject) => {
      instance.#started = resolve;
      void instance.#closed.then(() => reject(new Error("The function's process has ended.")));
    });
    return instance;
  }

  #hear({ port, ended, connections = 0 }: Said): void {
    if (port !== undefined) this.#started(port);
    this.connections = Math.max(this.connections, connections);
    if (ended !== undefined) this.#ended.get(ended)?.();
  }

  /** Thaws it for a request. */
  thaw(): string {
    this.calls++;
    this.#child.kill("SIGCONT");
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Resolves when the work has ended that it was given for the request. To be called before the request is sent. */
  workOf(call: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#ended.set(call, resolve);
      void this.#closed.then(() => reject(new Error("The function's process has ended.")));
    });
  }

  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  /** Kills it, frozen as it is. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}
