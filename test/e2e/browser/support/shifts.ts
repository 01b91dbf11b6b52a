/** What of the page has moved since it was opened, in a browser. */
export function shifts(): Promise<readonly string[]> {
  interface Shift extends PerformanceEntry {
    readonly value: number;
    readonly sources: readonly { readonly node: Node | null }[];
  }
  return new Promise((resolve) => {
    const found: string[] = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries() as Shift[]) {
        found.push(...sources.map(({ node }) => `${value} ${(node as Element | null)?.className}`));
      }
    }).observe({ type: "layout-shift", buffered: true });
    // What was seen until now is told of in the next turn.
    setTimeout(() => resolve(found), 300);
  });
}
