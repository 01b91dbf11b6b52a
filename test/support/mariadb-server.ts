import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, describe } from "vitest";
import { freePort } from "./free-port.js";

const binary = installed("mariadbd");

/** Whether MariaDB is installed; with `REQUIRE_SERVICES=1` it must be. */
export const hasMariaDb = binary !== undefined || process.env["REQUIRE_SERVICES"] === "1";

/** Runs the server for as long as this process lives, however it ends: then the guard's input ends. */
const guard = `exec 3<&0
"$@" <&- 3<&- &
server=$!
{ cat <&3 >/dev/null; kill -KILL $server; } 2>/dev/null &
exec 3<&-
wait $server`;

/** Root may run it, if it says so. */
const asRoot = process.getuid?.() === 0 ? ["--user=root"] : [];

/**
 * A suite that needs MariaDB. Without one the suite is skipped, with a message; with `REQUIRE_SERVICES=1` it fails.
 * @param settings - of the server, such as `--sql-mode=ORACLE`.
 */
export function describeWithMariaDb(
  name: string,
  body: (server: MariaDbServer) => void,
  settings: readonly string[] = [],
): void {
  const server = new MariaDbServer(settings);
  if (!hasMariaDb) {
    console.warn(`SKIPPED: ${name}: no mariadbd is installed.`);
    describe.skip(name, () => body(server));
    return;
  }
  describe(name, () => {
    beforeAll(() => server.create());
    afterAll(() => server.remove());
    body(server);
  });
}

/** A MariaDB of its own: on a free port of the loopback interface, with its data in a temporary folder. */
export class MariaDbServer {
  readonly #settings: readonly string[];
  #folder = "";
  #port = 0;
  #child: ChildProcess | undefined;

  constructor(settings: readonly string[] = []) {
    this.#settings = settings;
  }

  get port(): number {
    return this.#port;
  }

  /** Of an empty database, for one that may do everything. */
  get url(): string {
    return `mysql://root@127.0.0.1:${this.#port}/test`;
  }

  async create(): Promise<void> {
    if (binary === undefined) throw new Error("REQUIRE_SERVICES is 1, but no mariadbd is installed.");
    this.#folder = mkdtempSync(join(tmpdir(), "infergate-mariadb-"));
    const options = ["--no-defaults", `--datadir=${this.#folder}`, "--auth-root-authentication-method=normal"];
    process.on("exit", this.#abandon);
    // A server that starts removes temporary tables, also those of others in the same folder.
    const env = { ...process.env, TMPDIR: this.#folder };
    execFileSync(installed("mariadb-install-db") as string, [...options, "--skip-name-resolve", ...asRoot], {
      stdio: "pipe",
      env,
    });
    this.#port = await freePort();
    await this.start();
  }

  /** Starts it again after {@link kill}, on the same port and files. */
  async start(): Promise<void> {
    const place = [`--datadir=${this.#folder}`, `--port=${this.#port}`, "--bind-address=127.0.0.1"];
    const files = [`--socket=${join(this.#folder, "socket")}`, `--pid-file=${join(this.#folder, "pid")}`];
    const fast = [
      "--innodb-flush-log-at-trx-commit=0",
      "--skip-name-resolve",
      "--skip-log-bin",
      "--max-connections=200",
    ];
    const args = ["--no-defaults", ...place, ...files, ...asRoot, ...fast, ...this.#settings];
    const child = spawn("/bin/sh", ["-c", guard, "guard", binary as string, ...args], {
      stdio: ["pipe", "ignore", "pipe"],
      env: { ...process.env, TMPDIR: this.#folder },
    });
    this.#child = child;
    let log = "";
    child.stderr.on("data", (part: Buffer) => {
      log = (log + part.toString()).slice(-10_000);
    });
    while (!(await answers(this.url))) {
      if (child.exitCode !== null) throw new Error(`MariaDB did not start:\n${log}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** As a crash does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const exit = new Promise((resolve) => child.once("exit", resolve));
    // The guard kills it.
    child.stdin?.end();
    await exit;
  }

  async remove(): Promise<void> {
    await this.kill();
    process.off("exit", this.#abandon);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  readonly #abandon = (): void => {
    this.#child?.stdin?.end();
    rmSync(this.#folder, { recursive: true, force: true });
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const connection = await createConnection(url);
    await connection.end();
    return true;
  } catch {
    return false;
  }
}

function installed(name: string): string | undefined {
  const folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}
