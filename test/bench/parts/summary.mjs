import { spread } from "./statistics.mjs";

const figures = ["cpu", "perSecond", "busy", "others", "p50", "p99", "rss", "heap", "storeCpu", "scripts"];

/**
 * Medians of the rounds, and how each round compares with the floor's of the same round: what slows the machine down for
 * a while slows both.
 */
export function summarizeWorkload(results) {
  const floor = results["floor"];
  return Object.fromEntries(
    Object.entries(results).map(([name, { rounds }]) => [
      name,
      {
        ...each((figure) => spread(rounds.map((round) => round[figure]))),
        toFloor: each((figure) => compare(rounds, floor?.rounds, figure, (own, other) => own / other)),
        overFloor: each((figure) => compare(rounds, floor?.rounds, figure, (own, other) => own - other)),
      },
    ]),
  );
}

/** @returns how the rounds of one variant compare with those of another. */
export function compare(rounds, others, figure, calculate) {
  if (rounds === undefined || others === undefined) return undefined;
  return spread(rounds.map((round, index) => calculate(round[figure], others[index]?.[figure])));
}

function each(calculate) {
  return Object.fromEntries(figures.map((figure) => [figure, calculate(figure)]));
}
