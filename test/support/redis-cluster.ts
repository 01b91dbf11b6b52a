import { Redis } from "ioredis";
import { RedisServer } from "./redis-server.js";

const slots = 16_384;

/** Three masters that share the slots, without replicas. */
export class RedisCluster {
  readonly servers: readonly RedisServer[];

  private constructor(servers: readonly RedisServer[]) {
    this.servers = servers;
  }

  static async start(): Promise<RedisCluster> {
    const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start("--cluster-enabled", "yes")));
    const cluster = new RedisCluster(servers);
    const [first] = servers;
    await cluster.onEach(async (node, index) => {
      const from = Math.floor((index * slots) / servers.length);
      const to = Math.floor(((index + 1) * slots) / servers.length);
      await node.cluster("ADDSLOTS", ...Array.from({ length: to - from }, (_, offset) => from + offset));
      // Epochs must differ before the nodes meet.
      await node.cluster("SET-CONFIG-EPOCH", String(index + 1));
    });
    // Once all have one: who is met tells of the others, and a node that knows others takes no epoch.
    await cluster.onEach(async (node, index) => {
      if (index > 0) await node.cluster("MEET", "127.0.0.1", first?.port ?? 0);
    });
    await cluster.onEach(async (node) => {
      while (!(await isWhole(node, servers.length))) await new Promise((resolve) => setTimeout(resolve, 20));
    });
    return cluster;
  }

  get nodes(): { host: string; port: number }[] {
    return this.servers.map(({ port }) => ({ host: "127.0.0.1", port }));
  }

  /** Sends a command to every node, and returns their replies. */
  onEach<Answer>(ask: (node: Redis, index: number) => Promise<Answer>): Promise<Answer[]> {
    return Promise.all(
      this.servers.map(async ({ port }, index) => {
        const node = new Redis(port, "127.0.0.1");
        try {
          return await ask(node, index);
        } finally {
          node.disconnect();
        }
      }),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

async function isWhole(node: Redis, size: number): Promise<boolean> {
  const info = String(await node.cluster("INFO"));
  return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${size}`);
}
