import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { type PostgresServer, unprivileged } from "./postgres-server.js";

const binary = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((path) => existsSync(path));

/** Whether there is a PgBouncer; with `REQUIRE_SERVICES=1` there must be one. */
export const hasPgBouncer = binary !== undefined || process.env["REQUIRE_SERVICES"] === "1";

/** A PgBouncer in transaction mode, with a few connections to the server behind it. */
export class PgBouncer {
  #child: ChildProcess | undefined;
  #folder = "";
  #port = 0;

  get url(): string {
    return `postgres://anyone@127.0.0.1:${this.#port}/postgres`;
  }

  async start(server: PostgresServer): Promise<void> {
    if (binary === undefined) throw new Error("There is no PgBouncer.");
    this.#port = await freePort();
    this.#folder = mkdtempSync(join(tmpdir(), "infergate-pgbouncer-"));
    const { uid, gid } = unprivileged();
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid);
    const file = join(this.#folder, "pgbouncer.ini");
    writeFileSync(
      file,
      `[databases]
postgres = host=127.0.0.1 port=${server.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${this.#port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`,
    );
    this.#child = spawn(binary, ["-q", file], { ...unprivileged(), cwd: this.#folder, stdio: "ignore" });
    process.on("exit", this.#abandon);
    while (!(await accepts(this.#port))) {
      if (this.#child.exitCode !== null) throw new Error("PgBouncer did not start.");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null) {
      const exit = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGQUIT");
      await exit;
    }
    process.off("exit", this.#abandon);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  readonly #abandon = (): void => {
    this.#child?.kill("SIGQUIT");
    rmSync(this.#folder, { recursive: true, force: true });
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
