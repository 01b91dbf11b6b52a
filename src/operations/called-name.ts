import type { ModelTraits } from "./operation.js";

/** What the client called a model, which its responses and refusals call it, too. */
export function calledName({ id, alias }: Pick<ModelTraits, "id" | "alias">): string {
  return alias ?? id;
}
