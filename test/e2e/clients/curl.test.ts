import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everyCharge, startEvery } from "../../support/every-operation.js";
import { formEntries, heardText, madeImage, spokenSound } from "../../support/honest-server.js";
import { expectNoSockets } from "./start-server.js";

const run = promisify(execFile);
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "infergate-curl-"));
  await writeFile(join(folder, "audio.mp3"), Buffer.alloc(3000, 0xff));
  for (const name of ["body-lotion.png", "soap.png", "mask.png"]) await writeFile(join(folder, name), "a picture");
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await expectNoSockets();
});

const json = ["-H", "Content-Type: application/json", "-d"];
const form = ["-H", "Content-Type: multipart/form-data"];
const audio = ["-F", "file=@audio.mp3", "-F", "model=acme/hear"];
const b64_json = madeImage.toString("base64");

/** What OpenAI's pages tell their readers to type, and what comes of it: the charge, and a piece of the response. */
const commands: readonly [path: string, args: readonly string[], charge: number, said: string][] = [
  [
    "chat/completions",
    [...json, '{"model": "acme/small", "messages": [{"role": "user", "content": "Hello!"}]}'],
    everyCharge.chat,
    "Hello world",
  ],
  [
    "embeddings",
    [...json, '{"input": "The food was delicious", "model": "acme/embed", "encoding_format": "float"}'],
    everyCharge.embedding,
    '"embedding":[',
  ],
  [
    "completions",
    [...json, '{"model": "acme/base", "prompt": "Say this is a test", "max_tokens": 7, "temperature": 0}'],
    everyCharge.completion,
    '"text":" there was"',
  ],
  ["moderations", [...json, '{"input": "I want to kill them."}'], everyCharge.moderation, '"flagged":true'],
  [
    "images/generations",
    [...json, '{"model": "acme/image", "prompt": "A cute baby sea otter", "n": 1, "size": "1024x1024"}'],
    everyCharge.image,
    b64_json,
  ],
  [
    "images/edits",
    [
      ...[
        "-F",
        "model=acme/image",
        "-F",
        "image[]=@body-lotion.png",
        "-F",
        "image[]=@soap.png",
        "-F",
        "mask=@mask.png",
      ],
      ...["-F", "prompt=Create a lovely gift basket with these items in it"],
    ],
    everyCharge.edit,
    b64_json,
  ],
  ["audio/transcriptions", [...form, ...audio], everyCharge.transcript, `"text":"${heardText}"`],
  ["audio/transcriptions", [...form, ...audio, "-F", "stream=true"], everyCharge.transcript, "transcript.text.done"],
  [
    "audio/transcriptions",
    [...form, ...audio, "-F", "timestamp_granularities[]=word", "-F", "response_format=verbose_json"],
    everyCharge.transcript,
    '"duration":9.5',
  ],
  ["audio/translations", [...form, ...audio, "-F", "response_format=text"], everyCharge.transcript, heardText],
];

describe.skipIf(!hasCurl)("curl, as OpenAI's pages print it", () => {
  const call = (baseURL: string, path: string, args: readonly string[]) =>
    run("curl", ["-s", "-S", `${baseURL}/${path}`, "-H", "Authorization: Bearer sk-pro", ...args], {
      cwd: folder,
      encoding: "buffer",
    });

  it.each(commands)("calls %s with %j", async (path, args, charge, said) => {
    const every = await startEvery();
    const { stdout } = await call(every.baseURL, path, args);
    expect(stdout.toString()).toContain(said);
    await every.checkBooks();
    expect(every.events[0]).toMatchObject({ endpoint: path, status: 200, chargedMicro: charge });
  });

  it("writes speech to a file as it comes", async () => {
    const every = await startEvery();
    const input = "The quick brown fox.";
    const body = `{"model": "acme/voice", "input": "${input}", "voice": "alloy"}`;
    const { stdout } = await call(every.baseURL, "audio/speech", [...json, body]);
    expect(stdout.equals(spokenSound)).toBe(true);
    await every.checkBooks();
    expect(every.events[0]).toMatchObject({ chargedMicro: input.length * everyCharge.speech });
  });

  it("has its files reach the server as they are, with their names", async () => {
    const every = await startEvery();
    await call(every.baseURL, "audio/transcriptions", [...form, ...audio]);
    const entries = new Map(await formEntries(every.server.lastRequest));
    expect(entries.get("model")).toBe("whisper-1");
    expect(entries.get("file")).toMatchObject({ name: "audio.mp3", size: 3000 });
    await every.checkBooks();
  });
});
