import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { bundled } from "../../support/bundled.js";

const timeout = 30_000;

function fixture(name: string): string {
  return fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
}

async function callFromOwnProcess(origin: string, environment: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const parameters = [await bundled(fixture("one-call.ts")), origin];
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { env });
  return JSON.parse(stdout);
}

it("lets the process end while connections are idle, and leaves the host's fetch alone", { timeout }, async () => {
  const upstream = await startFakeUpstream();
  upstream.reply(wholeAnswer("hello"));
  // The upstream keeps idle connections for a minute: the process ends before that, or this test fails.
  expect(await callFromOwnProcess(upstream.origin)).toEqual({ status: 200, length: 5, replacesDispatcher: false });
  await upstream.close();
});

it("checks the certificate of the upstream", { timeout }, async () => {
  const files = { key: readFileSync(fixture("tls-key.pem")), cert: readFileSync(fixture("tls-certificate.pem")) };
  const length = 3_000_000;
  const server = createServer(files, (request, response) =>
    request.resume().on("end", () => response.end(Buffer.alloc(length))),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const origin = `https://127.0.0.1:${address.port}`;
  const [trusting, wary] = await Promise.all([
    callFromOwnProcess(origin, { NODE_EXTRA_CA_CERTS: fixture("tls-certificate.pem") }),
    callFromOwnProcess(origin),
  ]);
  expect(trusting).toMatchObject({ status: 200, length });
  expect(wary).toMatchObject({ error: expect.stringContaining("could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT)") });
  await new Promise((resolve) => server.close(resolve));
});
