/**
 * Puts each level of a script in a function of its own, inside the level before. A function takes a variable of an outer
 * level by a copied reference. A variable of its own level it takes by a search through all that were taken before it,
 * which, at every run, costs more than all else about a function.
 */
export function nest(...levels: readonly (readonly string[])[]): string {
  return levels
    .map((parts) => parts.map((part) => part.trim()).join("\n\n"))
    .reduceRight((inner, outer) => `${outer}\n\nreturn (function()\n${inner}\nend)()`);
}
