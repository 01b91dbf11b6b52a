import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = fileURLToPath(new URL(".", import.meta.url));
const dist = fileURLToPath(new URL("../../../dist/", import.meta.url));

export type RuntimeName = "bun" | "deno" | "workerd";

export interface Runtime {
  readonly origin: string;
  close(): Promise<void>;
}

const programOf = (name: RuntimeName) => join(folder, "node_modules/.bin", name);

/** Whether `npm run runtimes:install` has brought it here. */
export function hasRuntime(name: RuntimeName): boolean {
  return existsSync(programOf(name));
}

/** What a runtime is started with. */
interface Started {
  /** A folder for what is built. */
  readonly made: string;
  /** Of this folder. */
  readonly entry?: string;
  /** Of a Worker, further ones than `CONFIG`. */
  readonly bindings?: Readonly<Record<string, string>>;
}

/** Starts the built gateway on a runtime. @param config - see `ServerConfig`, or what the entry wants. */
export async function startRuntime(
  name: RuntimeName,
  config: object,
  { made, entry = `serve-${name}.ts`, bindings = {} }: Started,
): Promise<Runtime> {
  const script = join(made, `${name}.mjs`);
  await build({
    ...{ entryPoints: [join(folder, entry)], outfile: script, bundle: true, format: "esm" },
    alias: Object.fromEntries(
      ["", "/fetch", "/postgres", "/redis"].map((entry) => [
        `infergate${entry}`,
        join(dist, `${entry.slice(1) || "index"}.js`),
      ]),
    ),
    // As the runtime itself resolves packages, and not as the sources' own settings do.
    tsconfigRaw: {},
    ...{
      conditions: [name, "import"],
      platform: "neutral",
      mainFields: ["module", "main"],
      external: ["node:*", "cloudflare:*"],
    },
    logLevel: "error",
  });
  const CONFIG = JSON.stringify(config);
  if (name === "workerd") {
    await writeFile(join(made, "workerd.capnp"), workerConfig(["CONFIG", ...Object.keys(bindings)]));
  }
  const child = spawn(programOf(name), wordsFor(name, script, made), {
    env: { ...process.env, ...bindings, CONFIG, DENO_NO_UPDATE_CHECK: "1" },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const port = await new Promise<string>((resolve, reject) => {
    let said = "";
    for (const stream of child.stdio.slice(1)) {
      stream?.on("data", (piece: Buffer) => {
        said += piece.toString();
        const found = /(?:port |"port":)(\d+)/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
    }
    void ended.then(() => reject(new Error(`${name} has ended:\n${said}`)));
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function wordsFor(name: RuntimeName, script: string, made: string): string[] {
  switch (name) {
    case "bun":
      return ["run", script];
    case "deno":
      return ["run", "--allow-net=127.0.0.1", "--allow-env", "--no-config", script];
    case "workerd":
      return ["serve", join(made, "workerd.capnp"), "--experimental", "--control-fd=3"];
  }
}

const workerConfig = (bindings: readonly string[]): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "workerd.mjs", esModule = embed "workerd.mjs")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ["nodejs_compat", "enable_request_signal"],
  bindings = [${bindings.map((name) => `(name = "${name}", fromEnvironment = "${name}")`).join(", ")}],
);
`;
