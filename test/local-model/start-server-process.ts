import { spawn } from "node:child_process";
import { once } from "node:events";

/** A model server that runs as a process of its own. */
export interface ServerProcess {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Starts a server, and waits until it says where it listens.
 * @param listens - what it prints then; the first group is its origin.
 */
export async function startServerProcess(
  command: string,
  flags: readonly string[],
  listens: RegExp,
): Promise<ServerProcess> {
  const server = spawn(command, flags, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(server, "close");
  let said = "";
  const origin = await new Promise<string>((resolve, reject) => {
    const read = (piece: Buffer) => {
      said += piece;
      const found = listens.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${said}`)));
  });
  return {
    origin,
    close: async () => {
      server.kill();
      await ended;
    },
  };
}

/** The path of a server's program; `undefined`, and a word of it, where there is none. */
export function programOf(variable: string, advice: string): string | undefined {
  const path = process.env[variable];
  if (path === undefined) console.warn(`SKIPPED: ${variable} names no program. ${advice}`);
  return path;
}
