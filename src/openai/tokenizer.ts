/** Counts tokens as a model does. */
export interface Tokenizer {
  /**
   * @param most - counting may stop as soon as there are more than so many; what is returned is then more than that.
   */
  count(text: string, most: number): number;
}
