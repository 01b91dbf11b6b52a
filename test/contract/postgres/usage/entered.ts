import type pg from "pg";
import type { EntryTags, LedgerEntry } from "../../../../src/ledger/credit-ledger.js";

/** What stands in the journal. */
export interface Entered {
  readonly at: number;
  readonly kind: "charge" | "checkpoint" | "release";
  readonly amountMicro: number;
  readonly isPrepaid: boolean;
  /** What prepaid credits paid, where the plan paid the rest. No earlier version had that. */
  readonly prepaidMicro?: number | undefined;
  readonly tags: EntryTags | null;
}

/** Writes entries as operations do: into the journal and into the sums of usage, or only one of both. */
export async function enter(
  client: Pick<pg.Pool, "query">,
  { schema, account, into = "both" }: { schema: string; account: string; into?: "journal" | "sums" | "both" },
  entries: readonly Entered[],
): Promise<void> {
  const rows = `
    select at, kind, "amountMicro" as amount, "prepaidMicro" as prepaid, tags,
      case when "isPrepaid" then '{null,null,null,1,1,1}' else '{1,1,1}' end::bigint[] as starts
    from jsonb_to_recordset($2::text::jsonb) as entered (
      at bigint, kind text, "amountMicro" bigint, "isPrepaid" boolean, "prepaidMicro" bigint, tags jsonb
    )`;
  const values = [account, JSON.stringify(entries)];
  const isSplit = entries.some(({ prepaidMicro }) => prepaidMicro !== undefined);
  if (into !== "sums") {
    await client.query(
      `insert into ${schema}.entry (account, at, id, kind, amount, starts, tags ${isSplit ? ", prepaid" : ""})
       select $1, at, gen_random_uuid(), kind, amount, starts, tags ${isSplit ? ", prepaid" : ""}
       from (${rows}) as entered`,
      values,
    );
  }
  if (into !== "journal") {
    const calls = "(kind = 'charge')::int, amount";
    const add = isSplit
      ? `add_charge($1, at, ${calls}, case when starts[1] is null then amount else coalesce(prepaid, 0) end, tags)`
      : `add_usage($1, at, ${calls}, starts[1] is null, tags)`;
    await client.query(`select ${schema}.${add} from (${rows}) as entered`, values);
  }
}

/** As the ledger's history has it. */
export function toLedgerEntry({ at, kind, amountMicro, isPrepaid, prepaidMicro, tags }: Entered): LedgerEntry {
  const starts = isPrepaid ? {} : { session: 1, week: 1, month: 1 };
  const prepaid = isPrepaid ? amountMicro : prepaidMicro;
  return { sequence: "", id: "", kind, at, amountMicro, prepaidMicro: prepaid, starts, tags: tags ?? {} };
}
