/** Puts the schema's name in the place of the one that the SQL is written with. */
export function inSchema(sql: string, schema: string): string {
  return schema === "infergate" ? sql : sql.replace(/\binfergate\./g, `${schema}.`);
}
