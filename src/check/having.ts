import * as z from "zod";

/** The schema of an object or function that has these methods. @param what - describes it in the error. */
export function having<Type>(what: string, methods: readonly (keyof Type & string)[]): z.ZodType<Type> {
  return z.custom<Type>(
    (value) =>
      ((typeof value === "object" && value !== null && !Array.isArray(value)) || typeof value === "function") &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function"),
    `must be ${what}; it needs the ${methods.length === 1 ? "method" : "methods"} ${methods.join(", ")}`,
  );
}
