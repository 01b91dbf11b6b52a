/** Where a gateway's process may die, as seen from its ledger. */
export const deathPoints = [
  "before the reservation is sent",
  "after the reservation is sent",
  "after the reservation is answered",
  "in the middle of a stream",
  "after the settlement is sent",
] as const;

export type DeathPoint = (typeof deathPoints)[number];
