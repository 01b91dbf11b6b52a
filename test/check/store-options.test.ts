import { expect, it } from "vitest";
import { postgresStores } from "../../src/postgres/postgres-stores.js";
import { redisStores } from "../../src/redis/redis-stores.js";
import { sqliteStores } from "../../src/sqlite/sqlite-stores.js";

it.each<[(options: never) => unknown, object, RegExp]>([
  [postgresStores, { listn: false }, /^postgresStores: There is no option `listn` \(did you mean `listen`\?\)\.$/],
  [postgresStores, { retention: 5 }, /`retention` \(did you mean `retentionMs`\?\)/],
  [redisStores, { prefx: "a" }, /^redisStores: There is no option `prefx` \(did you mean `prefix`\?\)\.$/],
  [
    sqliteStores,
    { durabilty: "full" },
    /^sqliteStores: There is no option `durabilty` \(did you mean `durability`\?\)\.$/,
  ],
  [sqliteStores, { path: "x.db" }, /^sqliteStores: There is no option `path` \(there are `database`, `durability`, /],
])("a misspelled option of stores is refused: %o with %o", (make, options, message) => {
  expect(() => make(options as never)).toThrow(message);
});
