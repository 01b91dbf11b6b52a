import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";

/** How members of the ledger's contract were called up to 096b066, by their names since. */
const firstNames = {
  account: "subject",
  amountMicro: "amount",
  bonusMicro: "bonus",
  heldMicro: "held",
  limitMicro: "limit",
  observedMicro: "observed",
  usedMicro: "used",
};
const namesSince = Object.fromEntries(Object.entries(firstNames).map(([since, first]) => [first, since]));

/** A ledger of the first version, by the names of today. */
export function withTodaysNames(first: object): CreditLedger {
  return new Proxy(first, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        const called = await member.apply(
          target,
          args.map((value) => renamed(value, firstNames, true)),
        );
        return renamed(called, namesSince, true);
      };
    },
  }) as CreditLedger;
}

/** @param isNamed - whether the members have names of the contract. Tags have names of the host's. */
function renamed(value: unknown, names: Readonly<Record<string, string>>, isNamed: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, names, isNamed));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => {
    const isContract = isNamed && name !== "tags";
    return [isNamed ? (names[name] ?? name) : name, renamed(member, names, isContract)];
  });
  return Object.fromEntries(entries);
}
