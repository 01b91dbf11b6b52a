import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "./documentation.js";

const run = promisify(execFile);

export const hasShell = spawnSync("bash", ["-c", "curl --version && seq 1"]).status === 0;

/** What an example tells its user to try. */
export interface PrintedCommands {
  whole: string;
  streamed: string;
  message: string;
  response: string;
  /** Of examples that draw, speak, hear and rank. */
  picture: string | undefined;
  sentence: string | undefined;
  transcript: string | undefined;
  ranking: string | undefined;
  useUp: string;
  denied: string;
  snippet: string;
}

export function readCommands(printed: string): PrintedCommands {
  const commands = printed.match(/(?<=^ {2})(curl|for) .*$/gm) ?? [];
  const paths = ["/images/generations", "/audio/speech", "/audio/transcriptions", "/rerank"];
  const further = paths.map((path) => commands.find((command) => command.includes(path)));
  const [picture, sentence, transcript, ranking] = further;
  const [whole, streamed, message, response, useUp, denied, ...others] = commands.filter(
    (command) => !further.includes(command),
  );
  const snippet = /^ {2}import OpenAI[\s\S]*?console\.log\(.*\);$/m.exec(printed)?.[0];
  if (!whole || !streamed || !message || !response || !useUp || !denied || !snippet || others.length > 0) {
    throw new Error(printed);
  }
  const media = { picture, sentence, transcript, ranking };
  return { whole, streamed, message, response, ...media, useUp, denied, snippet };
}

/** Runs a command as printed; where there is no curl, does what it says. */
export async function runCommand(command: string): Promise<string> {
  if (hasShell) return (await run("bash", ["-c", command])).stdout;
  const url = /https?:\S+/.exec(command)?.[0] ?? "";
  const headers = [...command.matchAll(/-H "(.+?): (.+?)"/g)].map(([, name = "", value = ""]): [string, string] => [
    name,
    value,
  ]);
  const body = / -d '(.+?)'/.exec(command)?.[1];
  let output = "";
  for (let left = Number(/seq (\d+)/.exec(command)?.[1] ?? 1); left > 0; left--) {
    const response = await fetch(url, body === undefined ? { headers } : { method: "POST", headers, body });
    const text = await response.text();
    if (command.includes("%{http_code}")) output += `${response.status}\n`;
    else output += command.includes(" -i ") ? `HTTP/1.1 ${response.status} \r\n${head(response)}\r\n\r\n${text}` : text;
  }
  return output;
}

function head({ headers }: Response): string {
  return [...headers].map(([name, value]) => `${name}: ${value}`).join("\r\n");
}

/** Runs a command that writes a file, in a folder of its own, and then one that reads it. */
export async function fileOf(command: string, reader = "true"): Promise<{ file: Buffer; read: string }> {
  const folder = await mkdtemp(join(tmpdir(), "infergate-command-"));
  try {
    await run("bash", ["-c", command], { cwd: folder });
    const { stdout } = await run("bash", ["-c", reader], { cwd: folder });
    return { file: await readFile(join(folder, / > (\S+)$/.exec(command)?.[1] ?? "")), read: stdout };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** In a folder of its own, as a user would. */
export async function runSnippet(snippet: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "infergate-snippet-"));
  try {
    await symlink(`${root}node_modules`, join(folder, "node_modules"));
    await writeFile(join(folder, "snippet.mjs"), snippet);
    return (await run(process.execPath, ["snippet.mjs"], { cwd: folder })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
