import { spawn } from "node:child_process";
import { pinnedCommand } from "../parts/processors.mjs";

const running = new Set();
const callTimeoutMs = 30_000;

// Also after an uncaught error; the signals lead here, too.
process.on("exit", () => {
  for (const child of running) child.kill();
});
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
]) {
  process.on(signal, () => process.exit(code));
}

/** A process of this folder that is called over its IPC channel. */
export class Child {
  #process;
  #name;
  #calls = new Map();
  #lastCall = 0;
  #errorOutput = "";
  #exited;

  /** @param options - `processor`: which one to pin it to, where that is possible. */
  constructor(script, { processor, args = [], env = {} }) {
    const [command, ...rest] = pinnedCommand(processor, [process.execPath, "--expose-gc", script, ...args]);
    this.#name = [script.replace(/^.*\//, ""), ...args].join(" ");
    this.#process = spawn(command, rest, {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, NODE_ENV: "production", ...env },
    });
    running.add(this);
    this.#process.stderr.setEncoding("utf8").on("data", (text) => {
      this.#errorOutput = (this.#errorOutput + text).slice(-4000);
    });
    this.#process.on("message", (message) => this.#answered(message));
    this.#process.on("error", (error) => this.#fail(error));
    this.#exited = new Promise((resolve) => {
      this.#process.on("exit", (code, signal) => {
        running.delete(this);
        this.#fail(new Error(`${this.#name} ended (${signal ?? code}).\n${this.#errorOutput}`));
        resolve();
      });
    });
  }

  call(name, argument, { timeoutMs = callTimeoutMs } = {}) {
    const id = ++this.#lastCall;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#calls.delete(id);
        reject(new Error(`${this.#name}: no answer to "${name}" within ${timeoutMs} ms.\n${this.#errorOutput}`));
      }, timeoutMs);
      this.#calls.set(id, { resolve, reject, timer });
      this.#process.send({ id, name, argument }, (error) => {
        if (error) this.#fail(error);
      });
    });
  }

  /** Lets it go: it ends by itself when the channel closes, and by force after two seconds. */
  async stop() {
    if (this.#process.connected) this.#process.disconnect();
    const force = setTimeout(() => this.kill(), 2_000);
    await this.#exited;
    clearTimeout(force);
  }

  kill() {
    this.#process.kill("SIGKILL");
  }

  #answered({ id, result, error }) {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    clearTimeout(call.timer);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(`${this.#name}: ${error}`));
  }

  #fail(error) {
    for (const { reject, timer } of this.#calls.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#calls.clear();
  }
}
