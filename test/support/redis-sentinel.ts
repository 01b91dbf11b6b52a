import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "./free-port.js";
import { RedisServer, redisBinary } from "./redis-server.js";

/** A master named `main`, a replica of it, and a sentinel that watches them. */
export class RedisSentinel {
  readonly port: number;
  readonly #servers: readonly RedisServer[];
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(port: number, servers: readonly RedisServer[], folder: string, child: ChildProcess) {
    this.port = port;
    this.#servers = servers;
    this.#folder = folder;
    this.#process = child;
  }

  static async start(): Promise<RedisSentinel> {
    const master = await RedisServer.start("--repl-diskless-sync-delay", "0");
    const replica = await RedisServer.start("--replicaof", "127.0.0.1", String(master.port));
    const folder = await mkdtemp(join(tmpdir(), "infergate-sentinel-"));
    const port = await freePort();
    const config = join(folder, "sentinel.conf");
    const lines = [
      `port ${port}`,
      "bind 127.0.0.1",
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      "sentinel down-after-milliseconds main 100",
      "sentinel failover-timeout main 2000",
    ];
    await writeFile(config, lines.join("\n"));
    const child = spawn(redisBinary(), [config, "--sentinel"], { stdio: "ignore" });
    const sentinel = new RedisSentinel(port, [master, replica], folder, child);
    // It finds the replica from the master, by INFO now and then.
    await sentinel.#until(
      async (client) => ((await client.call("SENTINEL", "REPLICAS", "main")) as unknown[]).length > 0,
    );
    return sentinel;
  }

  /** Resolves when the replica has all that was written before. */
  async isInSync(): Promise<void> {
    const [master, replica] = this.#servers as [RedisServer, RedisServer];
    await this.#until(async () => {
      const [written, read] = [await replicationOf(master), await replicationOf(replica)];
      return read.includes("master_link_status:up") && offsetIn(read) >= offsetIn(written);
    });
  }

  /** Kills the master, and resolves when the replica has taken its place. */
  async failOver(): Promise<void> {
    const [master, replica] = this.#servers as [RedisServer, RedisServer];
    await master.kill();
    await this.#until(async () => (await askAt(replica.port, (client) => client.role()))[0] === "master");
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await ended;
    await Promise.all(this.#servers.map((server) => server.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #until(isSo: (client: Redis) => Promise<boolean>): Promise<void> {
    for (let attempt = 0; attempt < 1_000; attempt++) {
      if (await askAt(this.port, isSo).catch(() => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error("The sentinel did not get there within 20 s.");
  }
}

async function askAt<Answer>(port: number, ask: (client: Redis) => Promise<Answer>): Promise<Answer> {
  const client = new Redis(port, "127.0.0.1", { maxRetriesPerRequest: 1 });
  client.on("error", () => {});
  try {
    return await ask(client);
  } finally {
    client.disconnect();
  }
}

function replicationOf({ port }: RedisServer): Promise<string> {
  return askAt(port, (client) => client.info("replication"));
}

function offsetIn(replication: string): number {
  return Number(/master_repl_offset:(\d+)/.exec(replication)?.[1]);
}
