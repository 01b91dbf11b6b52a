// What a call allocates, and how many promises it makes, which no noise of a machine moves: in process, against a provider
// in the same process. It fails where a count exceeds the one on file by more than 5 %, and where it is so far below that
// the file no longer guards what was gained.
// node test/bench/counts.mjs [--only W1] [--update]

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { bytesOf, countingFlags, promisesOf } from "./parts/count-call.mjs";
import { callerOf, gatewayFor } from "./parts/in-process-gateway.mjs";
import { inProcessWorkloads } from "./parts/in-process-workloads.mjs";

const { values } = parseArgs({
  options: { only: { type: "string" }, update: { type: "boolean" }, measure: { type: "string" } },
});
const file = fileURLToPath(new URL("results/counts.json", import.meta.url));
const dist = new URL("../../dist/index.js", import.meta.url);
/** A count may exceed the one on file by so much. */
const tolerance = 1.05;
/** Below this part of the one on file, the file is to be renewed. */
const gained = 0.85;
/** A count that seems dearer is measured so often again. */
const mostAgain = 4;
/** Enough calls for the compiler to be done with the code. */
const warmUp = { whole: 4000, long: 1500 };
/** So many that what a round itself takes does not count, and so few that nothing has to be collected meanwhile. */
const measured = { whole: 400, long: 100 };

/** In a process of its own, in which nothing is collected while a round is measured. */
function countsOf(name) {
  const output = execFileSync(process.execPath, [...countingFlags, fileURLToPath(import.meta.url), "--measure", name], {
    encoding: "utf8",
  });
  return JSON.parse(output);
}

async function measure(name) {
  const workload = inProcessWorkloads[name];
  const gateway = gatewayFor(workload, await import(dist.href));
  const call = callerOf(gateway, workload);
  const size = workload.calls < 1000 ? "long" : "whole";
  for (let count = 0; count < warmUp[size]; count++) await call();
  const bytes = await bytesOf(call, measured[size]);
  const promises = await promisesOf(call, measured[size]);
  await gateway.close();
  return { bytes, promises };
}

/** When the compiler comes late, code that it has not seen allocates more: what seems dearer is measured again. */
function leastCountsOf(name, { bytes }) {
  let found = countsOf(name);
  for (let again = 0; again < mostAgain && found.bytes > bytes * tolerance; again++) {
    found = leastOf(found, countsOf(name));
  }
  return found;
}

function leastOf(one, other) {
  return { bytes: Math.min(one.bytes, other.bytes), promises: Math.min(one.promises, other.promises) };
}

function compare(names) {
  const known = JSON.parse(readFileSync(file, "utf8"));
  const [dearer, cheaper] = [[], []];
  for (const name of names) {
    const onFile = known[name] ?? { bytes: Number.POSITIVE_INFINITY, promises: Number.POSITIVE_INFINITY };
    const found = leastCountsOf(name, onFile);
    console.log(
      `${name}  ${found.bytes} bytes, ${found.promises} promises (on file: ${onFile.bytes}, ${onFile.promises})`,
    );
    const ratios = [found.bytes / onFile.bytes, found.promises / onFile.promises];
    if (ratios.some((ratio) => ratio > tolerance)) dearer.push(name);
    else if (ratios.some((ratio) => ratio < gained)) cheaper.push(name);
    known[name] = found;
  }
  if (values.update) writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`);
  else report(dearer, cheaper);
}

function report(dearer, cheaper) {
  if (dearer.length > 0) {
    fail(`These calls have become dearer: ${dearer.join(", ")}. Mend it, or run --update and say why in the commit.`);
  }
  if (cheaper.length > 0) {
    fail(`These calls have become much cheaper: ${cheaper.join(", ")}. Run --update, so that they stay so.`);
  }
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

if (values.measure !== undefined) console.log(JSON.stringify(await measure(values.measure)));
else compare(Object.keys(inProcessWorkloads).filter((name) => values.only === undefined || values.only === name));
