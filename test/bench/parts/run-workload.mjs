import { openRig, Session } from "./session.mjs";
import { shuffled } from "./statistics.mjs";

/**
 * Runs one workload: all variants take turns, in another order each round, so that a slow minute of the machine hits
 * them alike.
 * @returns by variant the `rounds`, and an `error` for one that had to be left out.
 */
export async function runWorkload(workload, variants, options, progress) {
  const results = Object.fromEntries(variants.map(({ name }) => [name, { rounds: [] }]));
  const rig = await openRig(workload);
  try {
    const run = workload.memory ? runFresh : runInterleaved;
    await run({ workload, variants, rig, results, progress, ...options });
  } finally {
    await rig.close();
  }
  return results;
}

async function runInterleaved({ workload, variants, rig, results, progress, rounds, seconds, ...options }) {
  const sessions = new Set();
  try {
    for (const variant of variants) {
      progress(`${workload.name} ${variant.name}: warming up`);
      const session = new Session(variant, workload, rig, options);
      sessions.add(session);
      await attempt(session, async () => {
        await session.open();
        await session.warmUp();
      });
    }
    for (let round = 1; round <= rounds; round++) {
      for (const session of shuffled(sessions)) {
        const { name } = session.variant;
        progress(`${workload.name} round ${round} of ${rounds}: ${name}`);
        await attempt(session, async () => {
          results[name].rounds.push(await session.measure(seconds ?? workload.seconds));
        });
      }
    }
    for (const session of sessions) results[session.variant.name].memory = await session.memory();
  } finally {
    await Promise.all([...sessions].map((session) => session.close()));
  }

  /** One that fails is left out; the others go on. */
  async function attempt(session, work) {
    try {
      await work();
    } catch (error) {
      results[session.variant.name] = { rounds: [], error: error.message };
      sessions.delete(session);
      await session.abandon();
    }
  }
}

/** A process for each measurement: one that has held five hundred streams does not give all of their memory back. */
async function runFresh({ workload, variants, rig, results, progress, rounds, build }) {
  const remaining = new Set(variants);
  for (let round = 1; round <= rounds; round++) {
    for (const variant of shuffled(remaining)) {
      progress(`${workload.name} round ${round} of ${rounds}: ${variant.name}`);
      const session = new Session(variant, workload, rig, { warmUpSeconds: 0, build });
      try {
        await session.open();
        results[variant.name].rounds.push(await session.measureOpenStreams());
        await session.close();
      } catch (error) {
        results[variant.name] = { rounds: [], error: error.message };
        remaining.delete(variant);
        await session.abandon();
      }
    }
  }
}
