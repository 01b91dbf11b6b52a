import * as z from "zod";

/** What {@link recordOf} takes. */
interface RecordShape<Value> {
  /** Default: any text is a name. */
  readonly names?: z.ZodType<string>;
  readonly values: z.ZodType<Value>;
  /** How many members it may have. */
  readonly most: number;
  /** For what is no object of members. */
  readonly error: string;
}

/** An object with members of many names, as a copy. Not a record of zod's: that drops a member named `__proto__`. */
export function recordOf<Value>({ names = z.string(), values, most, error }: RecordShape<Value>) {
  return z
    .custom<Readonly<Record<string, unknown>>>((value) => Object.prototype.toString.call(value) === "[object Object]", {
      error,
      abort: true,
    })
    .transform((given, context): Record<string, Value> => {
      const all = Object.entries(given);
      if (all.length > most) {
        context.addIssue({ code: "custom", message: `must have at most ${most} members, not ${all.length}` });
      }
      const members = all.slice(0, most).flatMap(([name, value]) => {
        const path = [name.slice(0, 64)];
        const problem = names.safeParse(name).error?.issues[0]?.message;
        if (problem !== undefined) context.addIssue({ code: "custom", path, message: `its name ${problem}` });
        const result = values.safeParse(value);
        for (const { message } of result.error?.issues ?? []) context.addIssue({ code: "custom", path, message });
        return result.success ? [[name, result.data] as const] : [];
      });
      return Object.fromEntries(members);
    });
}
