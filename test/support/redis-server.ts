import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort } from "./free-port.js";

const binary = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
  .map((folder) => join(folder, "redis-server"))
  .find((file) => existsSync(file));

/**
 * Whether a redis-server is installed. Without one the tests of Redis are skipped, and say so; where REQUIRE_SERVICES is
 * 1 they fail instead.
 */
export const hasRedisServer = binary !== undefined || process.env["REQUIRE_SERVICES"] === "1";
if (!hasRedisServer) console.warn("SKIPPED: no redis-server is installed, so Redis is not tested.");

export function redisBinary(): string {
  if (binary === undefined) throw new Error("REQUIRE_SERVICES is 1, but no redis-server is installed.");
  return binary;
}

/** A redis-server of this test's own. */
export class RedisServer {
  readonly port: number;
  readonly #args: readonly string[];
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, args: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#args = args;
  }

  /** @param args - of redis-server, such as `--appendonly yes`. Default: nothing is written to disk. */
  static async start(...args: string[]): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), "infergate-redis-"));
    const server = new RedisServer(await freePort(), folder, args);
    await server.restart();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again after {@link kill}, on the same port and files. */
  async restart(): Promise<void> {
    const fixed = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder, "--save", ""];
    const child = spawn(redisBinary(), [...fixed, ...this.#args], { stdio: "ignore" });
    this.#process = child;
    while (!(await answers(this.port))) {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}.`);
      await sleep(10);
    }
  }

  /**
   * Writes the log of commands anew, as docs/stores.md says. A crash may have cut it within a transaction. Redis then starts
   * well, but appends to the half transaction; the start after the next crash would carry it out.
   */
  async rewriteLog(): Promise<void> {
    const client = new Redis(this.port, "127.0.0.1");
    try {
      await client.bgrewriteaof();
      while (/aof_rewrite_(in_progress|scheduled):1/.test(await client.info("persistence"))) await sleep(10);
    } finally {
      client.disconnect();
    }
  }

  /** As a crash does: nothing is written any more. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Whether the server is up, and has loaded what is on disk. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      resolve(data.toString().startsWith("+PONG"));
      socket.destroy();
    });
    socket.once("error", () => resolve(false));
  });
}
