/** The output cap where neither the client nor the model names one: Messages do not go without. */
export const usualMaxTokens = 4096;
