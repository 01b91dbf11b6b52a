/**
 * The output cap where neither the client nor the plan nor the model names one. Messages do not go without, and servers
 * refuse a cap above their model's own, which nobody knows here.
 */
export const usualMaxTokens = 4096;
