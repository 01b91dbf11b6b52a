import type { AccountList, AccountUsage } from "../../../account/account-page-api.js";
import { instant, timeZone } from "../../parts/format.js";
import { useApi } from "../../parts/use-api.js";

/** A day or an hour of the reader's own time. */
export interface UsagePeriod {
  /** Epoch seconds. */
  readonly from: number;
  readonly short: string;
  readonly full: string;
}

/** What was used in a time. */
export interface Usage {
  readonly data: readonly AccountUsage[] | undefined;
  readonly error: Error | undefined;
  /** All of them, also those in which nothing was used. */
  readonly periods: readonly UsagePeriod[];
  /** The name of what it is by, as rows have it. */
  readonly by: string;
}

interface UsageQuestion {
  /** 1: the last 24 hours, by the hour. */
  readonly days: number;
  /** `model`, `key`, `funding`, or a tag as `tag.team`. */
  readonly by: string;
}

export function useUsage({ days, by }: UsageQuestion): Usage {
  const every = days === 1 ? "hour" : "day";
  const periods = periodsOf(days);
  const query = new URLSearchParams({ from: String(periods[0]?.from), every, time_zone: timeZone, by });
  const { data, error } = useApi<AccountList<AccountUsage>>(`usage?${query}`);
  return { data: data?.data, error, periods, by };
}

/** As clocks here show them: days with a change of the clock are shorter or longer. */
function periodsOf(days: number): UsagePeriod[] {
  const now = new Date();
  const start = new Date(now);
  const isHours = days === 1;
  start.setMinutes(0, 0, 0);
  if (!isHours) start.setHours(0);
  return Array.from({ length: isHours ? 24 : days }, (_, index) => {
    const at = new Date(start);
    if (isHours) at.setTime(start.getTime() - (23 - index) * 3_600_000);
    else at.setDate(start.getDate() - (days - 1 - index));
    const from = at.getTime() / 1000;
    return isHours
      ? { from, short: instant(from, { hour: "numeric" }), full: instant(from) }
      : {
          from,
          short: instant(from, { month: "short", day: "numeric" }),
          full: instant(from, { dateStyle: "medium" }),
        };
  });
}
