import type { CorsOptions } from "../../http/cors.js";

/** What in the options about sessions contradicts itself. */
export function sessionProblems({
  identify,
  origins,
  cors,
}: {
  readonly identify?: unknown;
  readonly origins?: unknown;
  readonly cors?: CorsOptions | undefined;
}): string[] {
  if (identify === undefined) {
    return origins === undefined ? [] : ["`origins` is for `identify`, which is not given. For CORS, use `cors`."];
  }
  if (cors !== true) return [];
  return [
    "`cors: true` lets the pages of every site in, which does not go with `identify`. " +
      'Name the origins: cors: { origins: ["https://app.example.com"] }.',
  ];
}
