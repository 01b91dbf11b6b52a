/** Sums of usage by plan and by target. What was summed up before has neither. */
export const postgresVersion12 = /* sql */ `
alter table infergate.usage_sum add column plan text, add column target text;
`;
