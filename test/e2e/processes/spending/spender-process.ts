import { fileURLToPath } from "node:url";
import { Child } from "../../../contract/sqlite/child.js";
import { readSteps } from "./read-steps.js";
import type { SpenderSettings } from "./spender.js";
import type { SpendingStep } from "./spending-step.js";

const program = fileURLToPath(new URL("../fixtures/spender.ts", import.meta.url));

/** What a spending process gets. */
export interface SpenderArguments extends SpenderSettings {
  /** Where it writes its steps. */
  file: string;
  seed: number;
  /** Of each hot account, in micro-credits. */
  budget: number;
  cold: number;
  /** How many calls it makes at once. */
  tasks: number;
  /** Of each task. `null`: until it is ended. */
  calls: number | null;
}

/** A process that spends from the accounts of the workload. */
export class SpenderProcess {
  readonly #child: Child;
  readonly #file: string;

  private constructor(child: Child, file: string) {
    this.#child = child;
    this.#file = file;
  }

  /** Resolves when it waits for its beginning. */
  static async start(environment: Record<string, string>, spender: SpenderArguments): Promise<SpenderProcess> {
    const others = { DATABASE: "", REDIS_URL: "", DATABASE_URL: "" };
    const child = await Child.ofProgram(program, [JSON.stringify(spender)], { ...others, ...environment });
    const started = new SpenderProcess(child, spender.file);
    await child.line();
    return started;
  }

  begin(): void {
    this.#child.say("begin");
  }

  /** Resolves when its first reservation is admitted. */
  async spending(): Promise<void> {
    await this.#child.line();
  }

  /** Lets it finish the calls that it has begun. */
  finish(): void {
    this.#child.say("end");
  }

  kill(): void {
    this.#child.kill();
  }

  /** How it has ended, and what it has done. */
  async end(): Promise<{ code: number | string | null; steps: SpendingStep[] }> {
    const code = await this.#child.end();
    return { code, steps: readSteps(this.#file) };
  }
}
