import type pg from "pg";

/** What a schema consists of, a line each: tables, types, indexes, triggers and routines. */
export async function postgresCatalog(pool: pg.Pool, schema: string): Promise<string> {
  const { rows } = await pool.query<{ line: string }>(
    `with home as (select oid from pg_namespace where nspname = $1),
    relation as (select pg_class.* from pg_class join home on relnamespace = home.oid)
    select concat_ws(' ', 'column', relname, relkind, reloptions, attname, format_type(atttypid, atttypmod), attnotnull,
      attidentity, pg_get_expr(adbin, adrelid), collname) as line
    from relation join pg_attribute on attrelid = relation.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum left join pg_collation on pg_collation.oid = attcollation
    where relkind in ('r', 'c')
    union all select 'index ' || pg_get_indexdef(indexrelid) from pg_index join relation on relation.oid = indrelid
    union all select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
      -- From PostgreSQL 18 on, what is not null is a constraint, too: the columns tell it.
      from pg_constraint join home on home.oid = connamespace where contype <> 'n'
    union all select 'trigger ' || pg_get_triggerdef(pg_trigger.oid)
      from pg_trigger join relation on relation.oid = tgrelid where not tgisinternal
    union all select pg_get_functiondef(pg_proc.oid) from pg_proc join home on home.oid = pronamespace
    order by 1`,
    [schema],
  );
  return rows.map(({ line }) => line.replaceAll(`${schema}.`, "infergate.")).join("\n");
}
