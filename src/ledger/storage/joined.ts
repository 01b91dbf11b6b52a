interface Call<Item, Result> {
  readonly items: readonly Item[];
  resolve(results: readonly Result[]): void;
  reject(error: unknown): void;
}

/** So many go to the database at once. What is asked for meanwhile goes together afterwards. */
const mostAtOnce = 2;
const mostTogether = 100;

/** Joins what is asked for at about the same time, since one statement for many costs little more than one for each. */
export class Joined<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #isOfSome: (error: unknown) => boolean;
  #waiting: Call<Item, Result>[] = [];
  #underWay = 0;

  /**
   * @param run - gives a result for each item, in their order.
   * @param isOfSome - whether an error may be of some of the items: then the others are run without them.
   */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>, isOfSome: (error: unknown) => boolean) {
    this.#run = run;
    this.#isOfSome = isOfSome;
  }

  async run(items: readonly Item[]): Promise<readonly Result[]> {
    const parts: Promise<readonly Result[]>[] = [];
    for (let start = 0; start < items.length; start += mostTogether) {
      parts.push(this.#join(items.slice(start, start + mostTogether)));
    }
    return (await Promise.all(parts)).flat();
  }

  #join(items: readonly Item[]): Promise<readonly Result[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, resolve, reject });
      void this.#goOn();
    });
  }

  async #goOn(): Promise<void> {
    while (this.#underWay < mostAtOnce && this.#waiting.length > 0) {
      this.#underWay++;
      await this.#runSome(this.#takeSome());
      this.#underWay--;
    }
  }

  /** Whole calls, in the order in which they came. */
  #takeSome(): Call<Item, Result>[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ items }, index) => {
      count += items.length;
      return index > 0 && count > mostTogether;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #runSome(calls: readonly Call<Item, Result>[]): Promise<void> {
    const results = await this.#runItems(calls.flatMap(({ items }) => items));
    for (const { items, resolve, reject } of calls) {
      const own = results.splice(0, items.length);
      const failed = own.find((result) => "error" in result);
      if (failed !== undefined) reject(failed.error);
      else resolve(own.flatMap((result) => ("value" in result ? [result.value] : [])));
    }
  }

  async #runItems(items: readonly Item[]): Promise<Settled<Result>[]> {
    try {
      return (await this.#run(items)).map((value) => ({ value }));
    } catch (error) {
      if (!this.#isOfSome(error) || items.length === 1) return items.map(() => ({ error }));
      const half = Math.ceil(items.length / 2);
      return [...(await this.#runItems(items.slice(0, half))), ...(await this.#runItems(items.slice(half)))];
    }
  }
}

type Settled<Result> = { readonly value: Result } | { readonly error: unknown };
