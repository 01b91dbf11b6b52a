import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, inject } from "vitest";
import "./bundled-folder.js";
import { freePort } from "./free-port.js";

/** The folder of the binaries that tests use. */
export const postgresBinaries = process.env["POSTGRES_BIN"] ?? "/usr/lib/postgresql/15/bin";

/** Whether PostgreSQL is installed. Where REQUIRE_SERVICES is 1 it has to be. */
export const hasPostgres = existsSync(`${postgresBinaries}/postgres`) || process.env["REQUIRE_SERVICES"] === "1";

/** Runs the server for as long as this process lives, however it ends: then the guard's input ends. */
const guard = `exec 3<&0
"$@" <&- 3<&- &
server=$!
{ cat <&3 >/dev/null; kill -QUIT $server; } 2>/dev/null &
exec 3<&-
wait $server`;

/** A PostgreSQL of its own: on a free port of the loopback interface, with its data in a temporary folder. */
export interface PostgresServer {
  readonly port: number;
  readonly url: string;
  start(): Promise<void>;
  /** `fast` ends the connections, `immediate` is as good as a crash. */
  stop(mode: "fast" | "immediate"): Promise<void>;
}

/**
 * A suite that needs PostgreSQL. `POSTGRES_BIN` names the folder of its binaries. Without them the suite is skipped,
 * with a message; with `REQUIRE_SERVICES=1` it fails.
 * @param settings - of the server, such as `{ fsync: "on" }`.
 */
export function describeWithPostgres(
  name: string,
  body: (server: PostgresServer) => void,
  settings: Readonly<Record<string, string>> = {},
): void {
  if (!hasPostgres) {
    console.warn(`SKIPPED: ${name}: there is no PostgreSQL in ${postgresBinaries}.`);
    describe.skip(name, () => body(undefined as unknown as PostgresServer));
    return;
  }
  describe(name, () => {
    const server = new TemporaryServer(settings);
    beforeAll(() => server.create(), 60_000);
    afterAll(() => server.remove());
    body(server);
  });
}

/** One that is made and removed by hand. */
export class TemporaryServer implements PostgresServer {
  readonly #binaries: string;
  readonly #settings: readonly string[];
  readonly #user = unprivileged();
  #folder = "";
  #port = 0;
  #child: ChildProcess | undefined;

  /** @param binaries - the folder of another version's. */
  constructor(settings: Readonly<Record<string, string>>, binaries = postgresBinaries) {
    this.#binaries = binaries;
    // What is compiled is run once or twice here: that took half of the server's time.
    const all = { fsync: "off", jit: "off", max_connections: "200", listen_addresses: "127.0.0.1", ...settings };
    this.#settings = Object.entries(all).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/postgres`;
  }

  async create(): Promise<void> {
    this.#folder = mkdtempSync(join(tmpdir(), "infergate-postgres-"));
    const { uid, gid } = this.#user;
    // The server refuses to run as root, and wants to own its folder.
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid);
    const options = { ...this.#user, cwd: this.#folder, stdio: "pipe" } as const;
    // Also scripts start servers, which the tests' folder is not there for.
    if (process.env["VITEST"] === undefined) makeData(this.#folder, this.#user, this.#binaries);
    else execFileSync("cp", ["-R", `${template(this.#user, this.#binaries)}/.`, this.#folder], options);
    this.#port = await freePort();
    process.on("exit", this.#abandon);
    await this.start();
  }

  async start(): Promise<void> {
    const args = ["-D", this.#folder, "-p", String(this.#port), "-c", `unix_socket_directories=${this.#folder}`];
    const child = spawn("/bin/sh", ["-c", guard, "guard", `${this.#binaries}/postgres`, ...args, ...this.#settings], {
      ...this.#user,
      cwd: this.#folder,
      stdio: ["pipe", "ignore", "pipe"],
    });
    this.#child = child;
    let log = "";
    child.stderr.on("data", (part: Buffer) => {
      log = (log + part.toString()).slice(-10_000);
    });
    for (;;) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${log}`);
      if (await answers(this.url)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(mode: "fast" | "immediate"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const exit = new Promise((resolve) => child.once("exit", resolve));
    this.#signal(mode === "fast" ? "SIGINT" : "SIGQUIT");
    await exit;
    child.stdin?.end();
  }

  async remove(): Promise<void> {
    await this.stop("immediate");
    process.off("exit", this.#abandon);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #signal(signal: NodeJS.Signals): void {
    const [pid] = readFileSync(join(this.#folder, "postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), signal);
  }

  readonly #abandon = (): void => {
    if (this.#child) this.#signal("SIGQUIT");
    rmSync(this.#folder, { recursive: true, force: true });
  };
}

interface ProcessUser {
  uid?: number;
  gid?: number;
}

/** By the folder of the binaries. */
const templates = new Map<string, string>();

/** The data of a new server. Made once in each process: to copy it takes a tenth of the time. */
function template(user: ProcessUser, binaries: string): string {
  const known = templates.get(binaries);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(inject("bundledFolder"), "postgres-"));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  makeData(folder, user, binaries);
  templates.set(binaries, folder);
  return folder;
}

function makeData(folder: string, user: ProcessUser, binaries: string): void {
  const args = ["-D", folder, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  execFileSync(`${binaries}/initdb`, args, { ...user, cwd: folder, stdio: "pipe" });
}

/** To run a process as who may: PostgreSQL and PgBouncer refuse to run as root. */
export function unprivileged(): ProcessUser {
  return process.getuid?.() === 0 ? ids("postgres") : {};
}

function ids(user: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
