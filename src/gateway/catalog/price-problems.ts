import type { Price, PriceTerm } from "../../metering/prices/price.js";
import type { ModelType } from "../../operations/model-type.js";
import { operations } from "../../operations/table.js";

/**
 * What is wrong with a price of a model of this type: what follows its name in a sentence.
 * @param name - of the option, `price` or `cost`.
 */
export function priceProblems(type: ModelType, price: Price, name: string): string[] {
  const priced = operations.filter(({ modelTypes }) => modelTypes.includes(type)).map((each) => each.priced);
  const lacking = new Set(priced.flatMap(({ required }) => lackOf(required, price, name)));
  const known = priced.map((each) => each.known).reduce((all, each) => all.filter((term) => each.includes(term)));
  const unknown = termsOf(price).filter((term) => !known.includes(term));
  return [
    ...lacking,
    ...unknown.map((term) => {
      return `has a ${name}.${term}, which calls of the type "${type}" never count. Leave it out. There are: ${known.join(", ")}.`;
    }),
  ];
}

/** With one way to price, each member that it lacks; with several ways, all of them. */
function lackOf(required: readonly (readonly PriceTerm[])[], price: Price, name: string): string[] {
  const lacking = required.map((terms) => terms.filter((term) => price[term] === undefined));
  if (lacking.length === 0 || lacking.some((terms) => terms.length === 0)) return [];
  const [only = [], ...others] = lacking;
  if (others.length === 0) return only.map((term) => `has no ${name}.${term}.`);
  const ways = required.map((terms) => terms.map((term) => `${name}.${term}`).join(" and "));
  return [`has neither ${ways.join(", nor ")}. Give it one of these.`];
}

function termsOf(price: Price): PriceTerm[] {
  return (Object.keys(price) as PriceTerm[]).filter((term) => price[term] !== undefined);
}
