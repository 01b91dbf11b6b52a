import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundled } from "../../support/bundled.js";

/** A process of one of the scripts in fixtures/, which talks in lines. */
export class Child {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  #errors = "";

  private constructor(
    path: string,
    parameters: readonly (string | number)[],
    environment: Record<string, string> = {},
  ) {
    this.#process = spawn(process.execPath, [path, ...parameters.map(String)], {
      env: { ...process.env, ...environment },
    });
    // A line for a process that has just died.
    this.#process.stdin.on("error", () => {});
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    this.#process.stderr.on("data", (text) => {
      this.#errors += text;
    });
    this.#ended = once(this.#process, "close");
  }

  static async start(script: string, ...parameters: readonly (string | number)[]): Promise<Child> {
    const path = fileURLToPath(new URL(`./fixtures/${script}`, import.meta.url));
    return new Child(await bundled(path), parameters);
  }

  /** A process of any script. */
  static async ofProgram(
    program: string,
    parameters: readonly string[],
    environment: Record<string, string>,
  ): Promise<Child> {
    return new Child(await bundled(program), parameters, environment);
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`The process has ended. ${this.#errors}`);
    return value;
  }

  /** The lines that are left, to its end. */
  async rest(): Promise<string[]> {
    const lines: string[] = [];
    for (let next = await this.#lines.next(); !next.done; next = await this.#lines.next()) lines.push(next.value);
    await this.#ended;
    return lines;
  }

  say(text: string): void {
    this.#process.stdin.write(`${text}\n`);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** How it has ended: an exit code, or the name of a signal. */
  async end(): Promise<number | string | null> {
    await this.#ended;
    if (this.#process.exitCode !== 0 && this.#errors !== "") throw new Error(this.#errors);
    return this.#process.signalCode ?? this.#process.exitCode;
  }
}
