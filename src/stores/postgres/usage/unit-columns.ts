import { costTag } from "../../../prices/tags.js";
import { type SummedUnit, summedUnits } from "../../../prices/usage-counts.js";

const columns = {
  ...{ images: "images", audioMs: "audio_ms", characters: "characters", searches: "searches" },
  ...{ inputImage: "input_image", inputAudio: "input_audio" },
  ...{ cachedInputImage: "cached_input_image", cachedInputAudio: "cached_input_audio" },
  ...{ outputImage: "output_image", outputAudio: "output_audio" },
} as const;

/** The columns of what is summed up beside tokens, in the order of {@link summedUnits}. */
export const unitColumns = summedUnits.map((unit: SummedUnit) => columns[unit]);

/** Of entries that have none of them, none is looked for. */
export const unitTags = `array[${summedUnits.map((unit) => `'${unit}'`).join(", ")}]`;

/** Each column, with the tag that it sums up. */
export const unitPairs = summedUnits.map((unit: SummedUnit) => [columns[unit], unit] as const);

/**
 * Entries of the journal, as they are summed up: what a FROM clause names `entry`. One that the plan and prepaid credits paid
 * together is there twice, each time with what one of them paid. The plan's has the call and its tokens.
 *
 * @param owner - the account.
 * @param spans - where they are, in rows of `sign, since, until`; the sign says whether they are added or taken away.
 */
export function usedEntries(owner: string, spans: string): string {
  return /* sql */ `(
          select sign, at, (at / 86400000)::int as day,
            not is_call or (starts[1] is null and starts[2] is null and starts[3] is null) as prepaid,
            case when kind = 'charge' and is_call then sign else 0 end as requests,
            micro,
            infergate.text_of(tags, 'model') as model, infergate.text_of(tags, 'keyId') as key_id,
            infergate.text_of(tags, 'plan') as plan, infergate.text_of(tags, 'target') as target, tags,
            case when is_call then tags->'input' end as input,
            case when is_call then tags->'cachedInput' end as cached_input,
            case when is_call then tags->'cacheWrite' end as cache_write,
            case when is_call then tags->'output' end as output,
            case when is_call then tags->'reasoning' end as reasoning,
            case when is_call then tags->'${costTag}' end as cost,
            ${unitPairs.map(([column, tag]) => `case when is_call then tags->'${tag}' end as ${column}`).join(",\n            ")},
            -- Also of an entry without any tags.
            case when tags ? '${costTag}' then micro else 0 end as costed
          from ${spans} as span (sign, since, until), lateral (
            -- Behind this fence each span is read by the index, whatever the statistics say.
            select at, kind, amount, prepaid, starts, tags || '{}' as tags,
              unnest(case when prepaid is null then array[true] else array[true, false] end) as is_call
            from infergate.entry
            where account = ${owner} and at >= since and at < until and kind in ('charge', 'checkpoint', 'release')
            offset 0
          ) as entered, lateral (
            select sign * case when prepaid is null then amount when is_call then amount - prepaid else prepaid end as micro
          ) as paid
          -- And behind this one, each number is looked for once.
          offset 0
        ) as entry`;
}
