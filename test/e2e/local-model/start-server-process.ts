import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../support/free-port.js";

/** A model server that runs as a process of its own. */
export interface ServerProcess {
  /** Such as `http://127.0.0.1:12345`. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Starts a server on a port of 127.0.0.1, and waits until it says at `/health` that it is ready. */
export async function startServerProcess(command: string, flags: readonly string[]): Promise<ServerProcess> {
  const port = await freePort();
  const place = ["--host", "127.0.0.1", "--port", String(port)];
  const server = spawn(command, [...place, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(server, "close");
  let said = "";
  for (const stream of [server.stdout, server.stderr]) {
    stream.on("data", (piece: Buffer) => {
      said = `${said}${piece}`.slice(-10_000);
    });
  }
  const origin = `http://127.0.0.1:${port}`;
  while (!(await isReady(origin))) {
    if (server.exitCode !== null) throw new Error(`${command} ended with ${server.exitCode}: ${said}`);
    await delay(50);
  }
  return {
    origin,
    close: async () => {
      server.kill();
      await ended;
    },
  };
}

async function isReady(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/health`);
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

/** The path of a server's program; `undefined`, and a word of it, where there is none. */
export function programOf(variable: string, advice: string): string | undefined {
  const path = process.env[variable];
  if (path === undefined) console.warn(`SKIPPED: ${variable} names no program. ${advice}`);
  return path;
}
